"""Transfer learning against plain PyTorch Geometric: a pre-training step, a fine-tuning epoch, SMILES to vectors."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import torch
from torch_geometric.data import Batch
from torch_geometric.loader import DataLoader

from adgcl.data.fetch.folder import data_folder
from adgcl.data.load import load_dataset
from adgcl.experiments.presets import named_preset
from adgcl.graphs.convert import to_pyg
from adgcl.graphs.store.store import GraphStore
from adgcl.protocols.fold_training import part_scores
from adgcl.training.interrupts import Interrupts
from adgcl.training.run_config import RunConfig, resolve
from adgcl.training.trainer import Trainer
from benchmarks.plain_hu_gin import PlainAttrMasking, PlainFinetuning, plain_copy
from benchmarks.smiles_speed import zinc_sample
from benchmarks.timing import Measurement, compared, in_turns, kernel_shares, seconds
from benchmarks.training_step import PRODUCTS

_WIDTH, _DENSE = 300, 70.0


def measure_pretraining(batches: int = 2, rounds: int = 6) -> Iterator[Measurement]:
    """AttrMasking on ZINC-250K in batches of 256."""
    torch.set_num_threads(1)
    store = load_dataset("ZINC-250K", atom_features="hu").store
    store = store.select(np.random.default_rng(0).permutation(len(store))[: 256 * batches])
    trainer = Trainer(_run("attr_masking-transfer"), store)
    check_equal(trainer, store)
    graphs, plain = to_pyg(store), PlainAttrMasking(plain_copy(trainer.method.encoder), _WIDTH)

    def ours() -> None:
        for start in range(0, len(store), 256):
            trainer._step(np.arange(start, start + 256), 1)

    def theirs() -> None:
        for data in DataLoader(graphs, 256):
            plain.step(data)

    best = in_turns({"plain": theirs, "ours": ours}, rounds)
    title = f"transfer, attr_masking, hu_gin of width {_WIDTH}, batches of 256"
    yield compared(f"{title}, a step", best["plain"] / batches, best["ours"] / batches, 1.5, "s/step")
    yield _dense(title, ours)


def measure_finetuning(rounds: int = 3) -> Iterator[Measurement]:
    """An epoch on BBBP with dropout 0.5 and the ROC-AUC of its validation and test parts."""
    torch.set_num_threads(1)
    dataset = load_dataset("moleculenet-bbbp")
    store, split = dataset.store, dataset.split
    assert split is not None
    trainer = Trainer(_run("supervised-moleculenet"), store.select(split["train"]))
    check_equal(trainer, store)
    plain = PlainFinetuning(plain_copy(trainer.method.encoder, 0.5), _WIDTH)
    graphs = to_pyg(store)
    train, *parts = ([graphs[i] for i in split[part]] for part in ("train", "valid", "test"))

    def ours() -> None:
        trainer._run_epoch(1, Interrupts(None))
        part_scores(trainer.method, store, (split["valid"], split["test"]))  # type: ignore[arg-type]

    best = in_turns({"plain": lambda: plain.epoch(train, tuple(parts)), "ours": ours}, rounds)
    title = f"transfer, fine-tuning on BBBP, hu_gin of width {_WIDTH}, dropout 0.5"
    yield compared(f"{title}, an epoch", best["plain"], best["ours"], 1.3, "s")
    yield _dense(title, ours)


def measure_embedding(count: int = 50_000) -> Iterator[Measurement]:
    """`adgcl embed zinc-gin` from a file of SMILES to parquet, against from_smiles, DataLoader and a table."""
    smiles = zinc_sample(data_folder(), count)
    with tempfile.TemporaryDirectory() as folder:
        source, out = Path(folder) / "zinc.smi", Path(folder) / "vectors.parquet"
        source.write_text("\n".join(smiles) + "\n", encoding="utf-8")
        cached = {"ADGCL_CACHE": str(Path(folder) / "cache")}
        ours = seconds(lambda: _call("adgcl", "embed", "zinc-gin", str(source), "--out", str(out), "--quiet", **cached))
        plain = seconds(lambda: _call("benchmarks.plain_embedding", str(source), str(Path(folder) / "plain.parquet")))
    title = f"transfer, embed zinc-gin, {count:,} SMILES to parquet, two cores"
    yield compared(title, plain, ours, 3.0, "s")


def check_equal(trainer: Trainer, store: GraphStore, tolerance: float = 2e-3) -> None:
    """Both networks give the same rows for the same molecules."""
    few, encoder = store.select(np.arange(16)), trainer.method.encoder
    plain = plain_copy(encoder)
    # Statistics of the batch, unless dropout would make the two differ.
    for network in (encoder, plain):
        network.train(not encoder.config.dropout)
    with torch.no_grad():
        ours = encoder(few.batch(np.arange(16))).node_emb
        theirs = plain(Batch.from_data_list(to_pyg(few)))
    torch.testing.assert_close(ours, theirs, rtol=tolerance, atol=tolerance)


def _dense(title: str, work: Callable[[], object]) -> Measurement:
    shares = kernel_shares(work)
    share = sum(shares.get(name, 0.0) for name in PRODUCTS)
    name = f"{title}, time in dense layers (at least {_DENSE:g} %)"
    return Measurement(name, round(share / _DENSE, 2), 1.0, round(share, 1), None, "%")


def _run(preset: str) -> RunConfig:
    settings = {**named_preset(preset).settings}
    settings["training"] = {**settings["training"], "threads": 1, "device": "cpu"}
    return resolve(settings)


def _call(module: str, *arguments: str, **environment: str) -> None:
    subprocess.run([sys.executable, "-m", module, *arguments], check=True, env={**os.environ, **environment})
