"""What is measured on trained encoders: drop probabilities by kind of edge, and distances between embeddings."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from adgcl.data.load import load_dataset
from adgcl.experiments.sweeps.drop_probabilities import _rows, decided, edge_groups, probabilities
from adgcl.experiments.sweeps.separation import distances
from adgcl.training.run_config import resolve
from adgcl.training.trainer import build_method
from tests.graph_cases import random_store

STORE = random_store(num_graphs=140, seed=3)


def adgcl(store, **settings):
    encoder = {"name": "gin", "hidden_dim": 6, "num_layers": 2}
    return build_method(resolve({"method": {"name": "adgcl", **settings}, "encoder": encoder}), store.spec, store.task)


@pytest.mark.parametrize("names", [["edge_drop"], ["node_drop", "edge_drop"]])
def test_probabilities_are_those_of_hard_gates(names):
    """Against how often an edge is dropped when the gate rounds, graph by graph."""
    method = adgcl(STORE, augmentations=names, gate={"hard": True})
    found = probabilities(method, STORE)
    assert len(found) == STORE.num_edges
    generator = torch.Generator().manual_seed(0)
    batch = STORE.batch(np.arange(12))
    part = names.index("edge_drop")
    with torch.no_grad():
        kept = [method.augmenter.parts(batch, generator)[part].view.edge_keep for _ in range(600)]
    often = 1 - torch.stack(kept).mean(0).numpy()
    np.testing.assert_allclose(found[: batch.num_edges], often, atol=0.1)


def test_decided_is_0_for_uniform_dropping_and_1_where_every_edge_is_settled():
    counts = STORE.edge_counts
    assert decided(np.full(STORE.num_edges, 0.3), counts) == pytest.approx(0.0, abs=1e-9)
    settled = np.random.default_rng(0).integers(0, 2, STORE.num_edges).astype(float)
    assert decided(settled, counts) == pytest.approx(1.0)
    # A graph dropped as a whole beside one that is kept: uneven between graphs, uniform within each.
    per_graph = np.repeat(np.linspace(0.1, 0.9, len(counts)), counts)
    assert decided(per_graph, counts) == pytest.approx(0.0, abs=1e-9)


def test_degrees_of_edges_against_a_loop():
    kind, names, group = edge_groups(STORE)
    assert kind == "degree" and names == ("1", "2", "3", "4", "5–8", "9–16", "17–32", "33+")
    lows = [0, 2, 3, 4, 5, 9, 17, 33]
    place = 0
    for graph in range(20):
        batch = STORE.batch([graph])
        degree = torch.bincount(batch.target, minlength=batch.num_nodes)
        for source, target in batch.edge_index.T.tolist():
            smaller = min(int(degree[source]), int(degree[target]))
            assert group[place] == max(i for i, low in enumerate(lows) if smaller >= low)
            place += 1


def test_bonds_are_named_by_their_chemistry(tmp_path):
    path = tmp_path / "m.csv"
    path.write_text("smiles\nCC\nC=C\nC#N\nc1ccccc1\n")
    store = load_dataset(path).store
    kind, names, group = edge_groups(store)
    assert kind == "bond"
    assert [names[g] for g in group] == ["single"] * 2 + ["double"] * 2 + ["triple"] * 2 + ["aromatic"] * 12
    rows = list(_rows(np.linspace(0, 1, len(group)), store))
    assert [row["group"] for row in rows] == ["all", "single", "double", "triple", "aromatic"]
    assert rows[4]["edges"] == 12 and rows[0]["mean"] == pytest.approx(0.5)


def test_distances_against_a_loop():
    rows = np.random.default_rng(1).normal(size=(9, 4)).astype(np.float32)
    rows[5] = rows[2]
    found = distances(rows)
    slow = sorted(float(np.linalg.norm(rows[i] - rows[j])) for i in range(9) for j in range(i))
    assert found["pairs"] == 36 and found["coinciding"] == 1
    assert found["nearest"] == pytest.approx(slow[0], abs=1e-6)
    assert found["median"] == pytest.approx(float(np.median(slow)), rel=1e-5)
