"""`python -m tests.parallel.cases FOLDER`: steps of many methods, written by each process to a file of its own."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import torch

from adgcl.methods.base import METHODS
from adgcl.parallel.world import joined, world
from adgcl.training.run_config import resolve
from adgcl.training.trainer import Trainer
from tests.graph_cases import random_store

# Small: Adam turns rounding errors of tiny gradients into whole steps, which would hide how well the rest agrees.
_RATE = 1e-6
_CODES = {"node_sizes": (4,), "edge_sizes": (3,)}
_HU = {"node_sizes": (7, 4), "edge_sizes": (6, 3)}
_EDGES = {"pool": ("random_node_drop", "random_edge_drop", "random_subgraph", "random_feature_mask", "identity")}

# Method settings, encoder, features of the graphs. In all of them processes draw the same noise as one would alone.
SAME: dict[str, tuple[dict[str, Any], str, dict[str, Any]]] = {
    "adgcl on gin": ({"name": "adgcl"}, "gin", {"node_sizes": (4,)}),
    "adgcl on gine, one direction": ({"name": "adgcl", "directions": "one"}, "gine", _CODES),
    "adgcl on hu_gin, at once": ({"name": "adgcl", "update": "simultaneous"}, "hu_gin", _HU),
    "adgcl on resgcn": ({"name": "adgcl"}, "resgcn", {"node_sizes": (4,)}),
    "adgcl, nodes and features": (
        {"name": "adgcl", "augmentations": ("node_drop", "feature_mask", "edge_drop"), "drop_budget": 0.3},
        "gin",
        {"node_sizes": (4,)},
    ),
    "adgcl, hard nodes": ({"name": "adgcl", "augmentations": ("node_drop",), "gate": {"hard": True}}, "gine", _CODES),
    "nadgcl": ({"name": "nadgcl", "directions": "both"}, "gine", _CODES),
    "graphcl": ({"name": "graphcl", "views": "two"}, "gin", {"node_sizes": (4,)}),
    "joao": ({"name": "joao", **_EDGES, "estimate_every": 1}, "gine", _CODES),
    "joaov2": ({"name": "joaov2", **_EDGES, "head_per": "epoch"}, "gin", {"node_sizes": (4,)}),
    "infograph": ({"name": "infograph", "prior": "adversarial"}, "gine", _CODES),
    "infomax": ({"name": "infomax", "labels": "random"}, "gin", {}),
    "attr_masking": ({"name": "attr_masking"}, "gine", _CODES),
    "graphmae": ({"name": "graphmae", "gamma": 2.0}, "gine", _CODES),
    "gae": ({"name": "gae"}, "gine", _CODES),
    "supervised": ({"name": "supervised"}, "gine", _CODES),
    "descriptors": ({"name": "descriptors"}, "ppi_gin", {"node_sizes": (2,), "edge_sizes": (2,) * 9}),
    "ss_gcn_a": ({"name": "ss_gcn_a"}, "gin", {"node_sizes": (4,)}),
}
# Noise whose amount depends on the graphs is each process's own: the same in every run, but not that of one process.
OWN: dict[str, tuple[dict[str, Any], str, dict[str, Any]]] = {
    "edge_pred": ({"name": "edge_pred"}, "gin", {}),
    "edge_add": ({"name": "adgcl", "augmentations": ("edge_add", "edge_drop")}, "gine", _CODES),
    "joao with added edges": ({"name": "joao", "tied": True}, "gine", _CODES),
}
DROPOUT = {"dropout": 0.3}
ALONE = {"negatives": "own", "norm_statistics": "own"}


def record(case: str, encoder: dict[str, Any] | None = None, **training: Any) -> dict[str, Any]:
    """Two epochs of three steps: every gradient that an optimiser used, every loss, and what came of the networks."""
    method, name, features = {**SAME, **OWN}[case]
    fields = METHODS[method["name"]].Config.model_fields
    rates = {field: _RATE for field in ("lr", "encoder_lr", "augmenter_lr") if field in fields}
    settings = {
        "method": {**method, **rates},
        "encoder": {"name": name, "hidden_dim": 8, "num_layers": 2, **(encoder or {})},
        # Seven graphs do not divide by two, and twenty-two leave a batch of one behind.
        "training": {"batch_size": 7, "epochs": 2, "device": "cpu", "step": "plain", **training},
    }
    trainer = Trainer(resolve(settings), random_store(num_graphs=22, seed=5, **features))
    gradients: list[torch.Tensor] = []
    for optimizer in trainer.method.optimizers.values():
        _listen(optimizer, gradients)
    metrics: list[dict[str, float]] = []
    trainer.trackers = [_Listener(metrics)]
    trainer.fit()
    networks = {key: value.clone() for key, value in trainer.method.state_dict().items()}
    return {"gradients": gradients, "metrics": metrics, "networks": networks, "noise": trainer.generator.get_state()}


def _listen(optimizer: Any, gradients: list[torch.Tensor]) -> None:
    step = optimizer.step

    def heard() -> None:
        parameters = [p for group in optimizer.param_groups for p in group["params"]]
        gradients.append(torch.cat([(torch.zeros_like(p) if p.grad is None else p.grad).flatten() for p in parameters]))
        step()

    optimizer.step = heard


class _Listener:
    def __init__(self, metrics: list[dict[str, float]]) -> None:
        self.metrics = metrics

    def start(self, epochs: int, steps: int, done: int) -> None: ...
    def epoch(self, row: dict[str, Any]) -> None: ...
    def stop(self) -> None: ...

    def step(self, report: Any) -> None:
        self.metrics.append(report.metrics)


def main(folder: Path) -> None:
    torch.set_num_threads(1)
    with joined():
        found = {case: record(case, merge_single=True) for case in SAME}
        found |= {case: record(case) for case in OWN}
        found |= {f"{case} again": record(case) for case in OWN}
        found["dropout"] = record("adgcl on gine, one direction", DROPOUT)
        found["alone"] = record("adgcl on gin", **ALONE)
        torch.save(found, folder / f"{world().rank}.pt")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
