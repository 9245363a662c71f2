"""Importance: each bond really taken away, one graph at a time."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from adgcl.core.schema import Task
from adgcl.graphs.chem.molecules import molecules_to_store
from adgcl.graphs.store.store import GraphStore, pack
from adgcl.insight import importance
from adgcl.insight.bonds import find_bonds
from adgcl.training.run_config import resolve
from adgcl.training.trainer import build_method
from tests.insight_cases import MOLECULES

STORE = molecules_to_store(list(MOLECULES)).store
TASKS = (Task("regression"), Task("binary", num_tasks=2), Task("multiclass", num_classes=3))


def members(task: Task):
    config = {"method": "supervised", "encoder": {"hidden_dim": 8, "num_layers": 2}}
    return [build_method(resolve({**config, "training": {"seed": s}}), STORE.spec, task) for s in (0, 1)]


def without(store: GraphStore, graph: int, gone: set[int]) -> GraphStore:
    """A graph packed again without some of its edges."""
    first, last = int(store.edge_ptr[graph]), int(store.edge_ptr[graph + 1])
    kept = [edge for edge in range(first, last) if edge not in gone]
    ends = np.stack([np.asarray(store.edge_source)[kept], store.edge_target()[kept]])
    nodes = slice(int(store.node_ptr[graph]), int(store.node_ptr[graph + 1]))
    attributes = np.asarray(store.edge_attr)[kept]
    return pack([nodes.stop - nodes.start], [len(kept)], ends, x=np.asarray(store.x)[nodes], edge_attr=attributes,
                spec=store.spec)  # fmt: skip


def predict(networks, store: GraphStore) -> np.ndarray:
    with torch.no_grad():
        outputs = [network.predict(store.batch([0])).double() for network in networks]
    kind = networks[0].task.kind
    turned = [o.sigmoid() if kind == "binary" else o.softmax(1) if kind == "multiclass" else o for o in outputs]
    return torch.stack(turned).mean(0)[0].numpy()


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.kind)
def test_changes_are_those_of_graphs_without_the_bond(task: Task) -> None:
    networks, bonds = members(task), find_bonds(STORE)
    column = 1 if task.kind == "binary" else 0
    made = importance.bond_importance(networks, STORE, bonds, column)
    for graph in (0, 2, 8, 17):
        whole = predict(networks, without(STORE, graph, set()))
        chosen = int(whole.argmax()) if task.kind == "multiclass" else column
        assert made.prediction[graph] == pytest.approx(whole[chosen], abs=1e-5)
        for bond in range(*bonds.of(graph).indices(len(bonds))):
            rest = predict(networks, without(STORE, graph, {int(bonds.forth[bond]), int(bonds.back[bond])}))
            assert made.change[bond] == pytest.approx(whole[chosen] - rest[chosen], abs=1e-5)


def test_large_graphs_get_the_slope(monkeypatch: pytest.MonkeyPatch) -> None:
    networks, bonds = members(TASKS[0]), find_bonds(STORE)
    exact = importance.bond_importance(networks, STORE, bonds)
    monkeypatch.setattr(importance, "EXACT", 0)
    slopes = importance.bond_importance(networks, STORE, bonds)
    assert slopes.prediction == pytest.approx(exact.prediction)
    assert np.corrcoef(slopes.change, exact.change)[0, 1] > 0.5
