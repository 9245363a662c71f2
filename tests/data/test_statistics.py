"""Counts against a slow loop and against graphs counted by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adgcl.core.schema import Features, Task
from adgcl.data.statistics import count
from adgcl.graphs.store import adjacency
from tests.graph_strategies import Plain, packed, plain_graphs


@settings(max_examples=60, deadline=None)
@given(plain_graphs(), st.sampled_from([1, 4, 1 << 18]))
def test_counts_equal_a_loop(graphs, run):
    store = packed(graphs)
    previous, adjacency.RUN_EDGES = adjacency.RUN_EDGES, run
    found = count(store)
    adjacency.RUN_EDGES = previous
    loops = sum(s == t for g in graphs for s, t, _ in g.edges)
    touched = [{n for s, t, _ in g.edges if s != t for n in (s, t)} for g in graphs]
    if found.directed:
        edges = sum(len({frozenset((s, t)) for s, t, _ in g.edges if s != t}) for g in graphs)
    else:
        edges = sum(s < t for g in graphs for s, t, _ in g.edges)
    assert found.self_loops == loops
    assert found.isolated_nodes == sum(len(g.codes) - len(t) for g, t in zip(graphs, touched, strict=True))
    assert found.avg_edges * len(graphs) == pytest.approx(edges)
    assert found.avg_directed_edges * len(graphs) == pytest.approx(sum(len(g.edges) for g in graphs))
    assert found.edgeless_graphs == sum(not g.edges for g in graphs)
    assert found.max_nodes == max(len(g.codes) for g in graphs)


def labelled(y, task):
    return replace(packed([Plain([0], [])] * len(y)), y=np.array(y, dtype=float).reshape(len(y), -1), task=task)


def test_classes_and_missing_labels():
    nan = np.nan
    classes = count(labelled([0, 2, 2, nan], Task("multiclass", num_classes=3, names=("a", "b", "c"))))
    assert classes.classes == {"a": 1, "b": 0, "c": 2}
    assert classes.missing_label_share == 0.25
    assert count(labelled([0, 1, 1], Task("binary"))).classes == {"0": 1, "1": 2}
    tasks = Task("binary", num_tasks=2, names=("p", "q"))
    assert count(labelled([[0, 1], [1, nan]], tasks)).classes == {"p": 1, "q": 1}
    assert count(labelled([0.5, 2], Task("regression"))).classes == {}


def test_a_store_without_labels_or_without_graphs():
    bare = replace(packed([Plain([3], [])]), y=None)
    assert (count(bare).missing_label_share, count(bare).node_features) == (0, Features((4,), 1))
    assert count(bare.select([])).graphs == 0
