"""ResGCN against plain PyTorch Geometric: a step of pre-training by AD-GCL, and fine-tuning on ten folds."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch_geometric.data import Batch
from torch_geometric.loader import DataLoader

from adgcl.data.load import load_dataset
from adgcl.encoders.resgcn import ResGCN
from adgcl.experiments.presets import named_preset
from adgcl.graphs.store.store import GraphStore
from adgcl.graphs.store.view import View
from adgcl.protocols.fold_training import Course, train_folds
from adgcl.protocols.label_parts import labelled_parts
from adgcl.training.run_config import RunConfig, resolve
from adgcl.training.trainer import Trainer
from benchmarks.plain_resgcn import PlainResGCNADGCL, plain_copy, plain_fold, to_plain
from benchmarks.timing import Measurement, compared, in_turns

_WIDTH, _LAYERS, _BATCH = 128, 3, 128
# Data sets with the ratio to reach, and how often a batch is repeated.
STEPS = (("NCI1", 2.0, 12), ("COLLAB", 4.0, 2))


def measure_step(name: str, target: float, rounds: int) -> Iterator[Measurement]:
    """One batch of 128 graphs, in the two players' alternating updates."""
    torch.set_num_threads(1)
    dataset = load_dataset(name, features="deg+odeg100")
    store = dataset.store.select(np.random.default_rng(0).permutation(len(dataset))[:_BATCH])
    trainer = Trainer(_run("adgcl-semi"), store)
    check_equal(trainer)
    graphs = to_plain(store)
    plain = PlainResGCNADGCL(graphs[0].x.shape[1], _WIDTH, _LAYERS)

    def theirs() -> None:
        for data in DataLoader(graphs, _BATCH):
            plain.step(data)

    best = in_turns({"plain": theirs, "ours": lambda: trainer._step(np.arange(len(store)), 1)}, rounds)
    title = f"labels, AD-GCL on {name}, ResGCN of width {_WIDTH}, batches of {_BATCH}, a step"
    yield compared(title, best["plain"], best["ours"], target, "s/step")


def measure_folds(name: str = "NCI1", epochs: int = 3, rounds: int = 2) -> Iterator[Measurement]:
    """Ten folds with the labels of one training graph in ten, the test part scored after every epoch."""
    torch.set_num_threads(1)
    dataset = load_dataset(name, features="deg+odeg100")
    parts = labelled_parts(dataset, "as_published", 0, 10, 0.1)
    graphs, run = to_plain(dataset.store), _run("supervised-semi").with_training(epochs=epochs)

    def theirs() -> None:
        for part in parts:
            plain_fold(graphs, part.train.tolist(), part.test.tolist(), _WIDTH, epochs)

    def ours() -> None:
        train_folds(dataset, parts, run, Course(1))

    best = in_turns({"plain": theirs, "ours": ours}, rounds)
    title = f"labels, fine-tuning on ten folds of {name}, {epochs} epochs each"
    yield compared(title, best["plain"], best["ours"], 2.0, "s")


def check_equal(trainer: Trainer, tolerance: float = 2e-3) -> None:
    """Both networks give the same rows for the same graphs with the same weights of edges."""
    encoder, few = trainer.method.encoder, trainer.store.select(np.arange(8))
    assert isinstance(encoder, ResGCN)
    plain = plain_copy(encoder)
    batch, data = few.batch(np.arange(8)), Batch.from_data_list(to_plain(few))
    keep = torch.rand(batch.num_edges)
    size = batch.num_nodes
    ours = batch.target * size + batch.col
    order = torch.searchsorted(ours, data.edge_index[1] * size + data.edge_index[0])
    for network in (encoder, plain):
        network.train()
    with torch.no_grad():
        plain.input_map.weight.copy_(encoder.input_map.weight[:, _columns(few)])
        mine = encoder(batch, View(edge_keep=keep)).graph_emb
        theirs = plain(data, keep[order])[1]
    torch.testing.assert_close(mine, theirs, rtol=tolerance, atol=tolerance)


def _columns(store: GraphStore) -> list[int]:
    """For each plain column, its place among ours: categories come first there, numbers here."""
    node = store.spec.node
    codes = sum(node.sizes)
    return [*range(codes, codes + node.num_dim), *range(codes)]


def _run(preset: str) -> RunConfig:
    settings = {**named_preset(preset).settings}
    settings["training"] = {**settings["training"], "threads": 1, "device": "cpu"}
    return resolve(settings)
