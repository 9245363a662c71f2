"""Embedding a whole store against PyTorch Geometric's DataLoader and message passing, one core."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch_geometric.loader import DataLoader

from adgcl.data.load import load_dataset
from adgcl.methods.adgcl import ADGCL
from adgcl.training.embedding import embed_store
from adgcl.training.run_config import resolve
from adgcl.training.trainer import Trainer
from benchmarks.plain_adgcl import PlainADGCL
from benchmarks.timing import Measurement, in_turns
from benchmarks.training_step import copy_weights, to_plain

# Data set, width, and how many of its graphs are embedded.
SETTINGS = (("NCI1", 32, 4110), ("ogbg-molbace", 300, 512))
_BATCH = 128


def measure(name: str, width: int, count: int, rounds: int = 5) -> Iterator[Measurement]:
    """Graphs per second of both versions, after checking that they give the same embedding."""
    features = "labels" if name.startswith("ogbg") else "constant"
    store = load_dataset(name, features=features).store
    store = store.select(np.random.default_rng(0).permutation(len(store))[:count])
    training = {"threads": 1, "device": "cpu"}
    trainer = Trainer(resolve({"method": "adgcl", "encoder": {"hidden_dim": width}, "training": training}), store)
    method, encoder = trainer.method, _plain(trainer.method, width)
    graphs = to_plain(store)

    def plain() -> np.ndarray:
        with torch.no_grad():
            return np.concatenate([encoder(data)[1].numpy() for data in DataLoader(graphs, _BATCH)])

    ours = embed_store(method, store, _BATCH)
    np.testing.assert_allclose(ours, plain(), rtol=1e-3, atol=1e-3 * np.abs(ours).max())
    best = in_turns({"plain": plain, "ours": lambda: embed_store(method, store, _BATCH)}, rounds)
    speeds = {side: round(len(store) / seconds, 1) for side, seconds in best.items()}
    ratio = round(best["plain"] / best["ours"], 2)
    title = f"embedding {name}, width {width}, one core"
    yield Measurement(title, ratio, None, speeds["ours"], speeds["plain"], "graphs/s")


def _plain(method: torch.nn.Module, width: int) -> torch.nn.Module:
    """The plain encoder with the weights of ours."""
    assert isinstance(method, ADGCL)
    spec = method.spec
    plain = PlainADGCL(width, 5, spec.node.sizes, spec.edge.sizes)
    copy_weights(method, plain)
    return plain.encoder.eval()
