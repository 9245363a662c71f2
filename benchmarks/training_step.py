"""AD-GCL's training step against plain PyTorch Geometric: same work, checked to give the same numbers first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch_geometric.data import Batch, Data
from torch_geometric.loader import DataLoader

from adgcl.data.features import choose_features
from adgcl.data.load import load_dataset
from adgcl.encoders.round_products import PRODUCT
from adgcl.graphs.convert import to_pyg
from adgcl.graphs.store.store import GraphStore
from adgcl.graphs.store.view import View
from adgcl.methods.adgcl import ADGCL
from adgcl.training.run_config import RunConfig, resolve
from adgcl.training.trainer import Trainer
from benchmarks.plain_adgcl import PlainADGCL, contrast
from benchmarks.timing import Measurement, compared, in_turns, kernel_shares


@dataclass(frozen=True)
class Setting:
    """A data set with the published width and batch size, and the ratios to reach."""

    dataset: str
    width: int
    batch_size: int
    alternating: float | None
    simultaneous: float | None
    bfloat16: float | None = None
    # The least share of time in dense layers, per cent.
    dense: float | None = None
    batches: int = 4
    rounds: int = 7


# What the profiler calls a dense product.
PRODUCTS = ("aten::mm", "aten::addmm", "mkldnn::_linear_pointwise", PRODUCT)

# Many short rounds where a step is short: a shared machine is undisturbed only for moments.
SETTINGS = (
    Setting("NCI1", 32, 32, 5.0, 7.5, rounds=40),
    Setting("PROTEINS", 32, 32, 5.0, 7.5, rounds=40),
    Setting("IMDB-BINARY", 32, 32, 5.0, 7.5, rounds=40),
    Setting("DD", 32, 32, 5.0, 7.0, rounds=8),
    Setting("COLLAB", 32, 32, 12.0, 16.0, rounds=5),
    Setting("ogbg-molbace", 300, 64, 1.3, None, 3.0, dense=70.0, batches=2, rounds=8),
    Setting("ZINC-250K", 300, 256, None, None, batches=1, rounds=2),
)


def measure(setting: Setting) -> Iterator[Measurement]:
    """Both updates, and 16-bit products for wide networks, alternating with the plain version on one core."""
    torch.set_num_threads(1)
    store = _store(setting)
    ids = np.random.default_rng(0).permutation(len(store))[: setting.batches * setting.batch_size]
    store = store.select(ids)
    check_equal(store.select(np.arange(min(len(store), 16))), setting)
    graphs = to_plain(store)
    plain = _plain(store, setting)
    trainers = {
        "alternating": _trainer(store, setting, "alternating", "float32"),
        "simultaneous": _trainer(store, setting, "simultaneous", "float32"),
    }
    if setting.bfloat16 is not None:
        trainers["bfloat16 simultaneous"] = _trainer(store, setting, "simultaneous", "bfloat16")
    targets = {
        "alternating": setting.alternating,
        "simultaneous": setting.simultaneous,
        "bfloat16 simultaneous": setting.bfloat16,
    }

    def plain_epoch() -> None:
        for data in DataLoader(graphs, setting.batch_size):
            plain.step(data)

    def epoch(trainer: Trainer) -> None:
        for start in range(0, len(store), setting.batch_size):
            trainer._step(np.arange(start, min(start + setting.batch_size, len(store))), 1)

    works = {"plain": plain_epoch, **{name: (lambda t=t: epoch(t)) for name, t in trainers.items()}}
    best = in_turns(works, setting.rounds)
    for name in trainers:
        title = f"training {setting.dataset}, width {setting.width}, {name}"
        yield compared(title, best["plain"] / setting.batches, best[name] / setting.batches, targets[name], "s/step")
    if setting.dense is not None:
        shares = kernel_shares(lambda: epoch(trainers["alternating"]))
        share = sum(shares.get(name, 0.0) for name in PRODUCTS)
        title = (
            f"training {setting.dataset}, width {setting.width}, time in dense layers (at least {setting.dense:g} %)"
        )
        yield Measurement(title, round(share / setting.dense, 2), 1.0, round(share, 1), None, "%")


def check_equal(store: GraphStore, setting: Setting, tolerance: float = 2e-3) -> None:
    """Both versions, with the same weights and the same kept edges, give the same loss and gradients."""
    method = _trainer(store, setting, "alternating", "float32").method
    assert isinstance(method, ADGCL)
    plain = _plain(store, setting)
    copy_weights(method, plain)
    batch = store.batch(np.arange(len(store)))
    data = Batch.from_data_list(to_plain(store))
    keep = torch.rand(batch.num_edges)
    order = _edge_order(data, batch.edge_index)
    method.train()
    plain.train()
    ours = method._loss(*method.project_pair(batch, View(edge_keep=keep)))
    z, z_view = plain.head(plain.encoder(data)[1]), plain.head(plain.encoder(data, keep[order])[1])
    theirs = contrast(z, z_view)
    torch.testing.assert_close(ours, theirs, rtol=tolerance, atol=tolerance)
    ours.backward()
    theirs.backward()
    first = method.head[0].weight.grad, plain.head[0].weight.grad
    torch.testing.assert_close(*first, rtol=tolerance * 10, atol=tolerance)
    mine = method.encoder.layers[1].first.weight.grad  # type: ignore[union-attr]
    torch.testing.assert_close(mine, plain.encoder.convs[1].mlp[0].weight.grad, rtol=tolerance * 10, atol=tolerance)


def copy_weights(method: ADGCL, plain: PlainADGCL) -> None:
    """Put our encoder's and head's weights into the plain version."""
    with torch.no_grad():
        for ours, theirs in zip(method.head, plain.head):
            theirs.load_state_dict(ours.state_dict())
        for i, layer in enumerate(method.encoder.layers):
            mlp = plain.encoder.convs[i].mlp
            # We have no bias before a normalisation; theirs starts at zero and has no effect.
            mlp[0].load_state_dict(layer.first.state_dict(), strict=False)
            mlp[-1].load_state_dict(layer.second.state_dict(), strict=False)
        _copy_tables(plain.encoder.atoms, getattr(method.encoder.inputs, "codes", None))
        _copy_tables(plain.encoder.bonds, getattr(getattr(method.encoder, "bonds", None), "codes", None))


def _copy_tables(tables: torch.nn.ModuleList, codes: torch.nn.Module | None) -> None:
    if codes is None:
        return
    start = 0
    for table in tables:
        table.weight.copy_(codes.table[start : start + table.num_embeddings])
        start += table.num_embeddings


def _edge_order(data: Batch, edge_index: torch.Tensor) -> torch.Tensor:
    """The position of each of the plain batch's edges among ours."""
    size = int(data.num_nodes)
    ours = edge_index[1] * size + edge_index[0]
    return torch.searchsorted(ours, data.edge_index[1] * size + data.edge_index[0])


def to_plain(store: GraphStore) -> list[Data]:
    """PyG graphs as its users have them; the constant feature where there are none."""
    graphs = to_pyg(store)
    for graph in graphs:
        if store.spec.node.empty:
            graph.x = torch.ones(graph.num_nodes, 1)
    return graphs


def _store(setting: Setting) -> GraphStore:
    dataset = load_dataset(setting.dataset)
    constant = dataset.origin.family == "tu"
    return choose_features(dataset.store, "constant") if constant else dataset.store


def _plain(store: GraphStore, setting: Setting) -> PlainADGCL:
    torch.manual_seed(0)
    return PlainADGCL(setting.width, 5, store.spec.node.sizes, store.spec.edge.sizes)


def _trainer(store: GraphStore, setting: Setting, update: str, precision: str, step: str = "auto") -> Trainer:
    return Trainer(_config(setting, update, precision, step), store)


def _config(setting: Setting, update: str, precision: str, step: str) -> RunConfig:
    return resolve(
        {
            "method": {"name": "adgcl", "update": update},
            "encoder": {"hidden_dim": setting.width, "num_layers": 5},
            "training": {
                "batch_size": setting.batch_size,
                "threads": 1,
                "device": "cpu",
                "precision": precision,
                "step": step,
            },
        }
    )
