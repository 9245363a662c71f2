"""The whole published protocol on MUTAG, wall time on two cores: ours against two plain processes."""

from __future__ import annotations

import multiprocessing
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.timing import Measurement, compared, seconds


def measure(seeds: int = 10, epochs: int = 150, every: int = 5) -> Iterator[Measurement]:
    """Ten seeds of 150 epochs, each judged 30 times; the plain version as a good user runs it: two processes."""
    ours = seconds(lambda: _ours(seeds, epochs, every))
    plain = seconds(lambda: _plain(seeds, epochs, every))
    title = f"whole protocol on MUTAG ({seeds} seeds, {epochs} epochs), two cores"
    yield compared(title, plain, ours, 4.0, "s")


def _ours(seeds: int, epochs: int, every: int) -> None:
    from adgcl.data.features import choose_features
    from adgcl.data.load import load_dataset
    from adgcl.protocols.judging import evaluate_method
    from adgcl.protocols.unsupervised import UnsupervisedConfig
    from adgcl.training.run_config import resolve

    dataset = load_dataset("MUTAG")
    dataset = dataset.with_store(choose_features(dataset.store, "constant"))
    run = resolve({"method": "adgcl", "training": {"epochs": epochs, "device": "cpu"}})
    protocol = UnsupervisedConfig(mode="as_published", evaluate_every=every)
    with tempfile.TemporaryDirectory() as folder:
        evaluate_method(dataset, run, protocol, range(seeds), jobs=2, work=Path(folder))


def _plain(seeds: int, epochs: int, every: int) -> None:
    context = multiprocessing.get_context("spawn")
    with context.Pool(2) as pool:
        pool.starmap(_plain_seed, [(seed, epochs, every) for seed in range(seeds)])


def _plain_seed(seed: int, epochs: int, every: int) -> float:
    import torch
    from torch_geometric.loader import DataLoader

    from adgcl.data.features import choose_features
    from adgcl.data.load import load_dataset
    from benchmarks.plain_adgcl import PlainADGCL
    from benchmarks.probe_speed import sklearn_probe
    from benchmarks.training_step import to_plain

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    warnings.simplefilter("ignore")
    store = choose_features(load_dataset("MUTAG").store, "constant")
    graphs, y = to_plain(store), store.y[:, 0]  # type: ignore[index]
    model, best = PlainADGCL(32, 5), 0.0
    for epoch in range(1, epochs + 1):
        for data in DataLoader(graphs, 32, shuffle=True):
            model.step(data)
        if epoch % every == 0:
            model.eval()
            with torch.no_grad():
                parts = [model.encoder(data)[1].numpy() for data in DataLoader(graphs, 128)]
            best = max(best, sklearn_probe(np.concatenate(parts).astype(np.float64), y, epoch))
    return best
