"""GraphStore and pack against slow loops, and what they refuse."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adgcl.core.errors import DataError
from adgcl.core.schema import Features, FeatureSpec
from adgcl.graphs.store import adjacency
from adgcl.graphs.store.store import pack
from tests.graph_strategies import Plain, assert_same_store, packed, plain_graphs, unpacked

QUICK = settings(max_examples=60, deadline=None)


@QUICK
@given(plain_graphs(), st.booleans())
def test_packing_equals_a_slow_sort(graphs, simple):
    store = packed(graphs, simple=simple)
    expected = [(graph.codes, graph.sorted_edges(simple)) for graph in graphs]
    assert unpacked(store) == expected
    in_degree = [sum(e[1] == node for e in edges) for codes, edges in expected for node in range(len(codes))]
    assert store.in_degree.tolist() == in_degree
    assert [store.id_of(i) for i in range(len(store))] == [f"graph {i}" for i in range(len(graphs))]


@QUICK
@given(plain_graphs())
def test_reverse_is_an_involution_or_absent(graphs):
    store = packed(graphs)
    symmetric = all(Counter(e[:2] for e in g.edges) == Counter((t, s) for s, t, _ in g.edges) for g in graphs)
    assert (store.edge_reverse is not None) == symmetric
    if store.edge_reverse is None:
        return
    for i in range(len(store)):
        edges = slice(store.edge_ptr[i], store.edge_ptr[i + 1])
        reverse = store.edge_reverse[edges].astype(int)
        source, target = store.edge_source[edges], store.edge_target()[edges]
        np.testing.assert_array_equal(reverse[reverse], np.arange(len(reverse)))
        np.testing.assert_array_equal(source[reverse], target)
        np.testing.assert_array_equal(target[reverse], source)


@QUICK
@given(plain_graphs(max_graphs=8), st.integers(1, 9), st.booleans())
def test_the_length_of_runs_makes_no_difference(graphs, run, simple):
    whole = packed(graphs, simple=simple)
    previous, adjacency.RUN_EDGES = adjacency.RUN_EDGES, run
    try:
        assert_same_store(packed(graphs, simple=simple), whole)
    finally:
        adjacency.RUN_EDGES = previous


@QUICK
@given(plain_graphs(), st.data())
def test_selected_graphs_are_the_graphs(graphs, data):
    store = packed(graphs)
    ids = data.draw(st.lists(st.integers(-len(graphs), len(graphs) - 1), max_size=6))
    chosen = store.select(ids)
    assert unpacked(chosen) == [unpacked(store)[i] for i in ids]
    assert list(chosen.ids) == [store.ids[i] for i in ids]
    assert chosen.y[:, 0].tolist() == [store.y[i, 0] for i in ids]
    if ids:
        direct, later = store.batch(ids), chosen.batch(np.arange(len(ids)))
        for name in ("edge_index", "x", "x_num", "edge_attr", "y", "node_ptr", "edge_ptr", "crow"):
            assert getattr(direct, name).equal(getattr(later, name)), name


def test_a_mask_selects_its_true_places():
    store = packed([Plain([i], []) for i in range(3)])
    assert store.select([True, False, True]).x[:, 0].tolist() == [0, 2]
    assert len(store.select([])) == 0


@pytest.mark.parametrize("ids", [[3], [-4], [0.5], [[0, 1]], [True, False]])
def test_wrong_graph_numbers_are_refused(ids):
    store = packed([Plain([i], []) for i in range(3)])
    with pytest.raises(IndexError):
        store.select(ids)
    with pytest.raises(IndexError):
        store.batch(ids)


def test_types_are_narrow_and_the_features_counted():
    store = packed([Plain([0, 300], [(0, 1, 3), (1, 0, 2)]), Plain([7], [])])
    assert (store.edge_source.dtype, store.x.dtype) == (np.uint8, np.uint16)
    assert store.spec == FeatureSpec(Features((301,), 1), Features((4,)))
    assert (store.num_nodes, store.num_edges, store.node_counts.tolist()) == (3, 2, [2, 1])


def test_edges_may_come_as_any_integers_even_unsigned():
    for dtype in (np.int8, np.int32, np.uint16, np.uint64):
        store = pack([2], [2], (np.array([0, 1], dtype), np.array([1, 0], dtype)))
        assert store.edge_source.tolist() == [1, 0]
    assert pack([2], [0], []).num_edges == 0
    assert pack([2], [0], [[], []]).edge_reverse is not None


WRONG = {
    "no graphs": ({"node_counts": [], "edge_counts": [], "edge_index": [[], []]}, "no graphs"),
    "empty graph": (
        {"node_counts": [1, 0], "edge_counts": [0, 0], "edge_index": [[], []]},
        "Graph 1 has no nodes",
    ),
    "counts": ({"node_counts": [1, 2], "edge_counts": [0], "edge_index": [[], []]}, "2 node counts but 1"),
    "edge sum": ({"node_counts": [2], "edge_counts": [2], "edge_index": [[0], [1]]}, "add up to 2"),
    "negative count": (
        {"node_counts": [2, 2], "edge_counts": [-1, 2], "edge_index": [[0], [1]]},
        "add up to 1",
    ),
    "range": (
        {"node_counts": [1, 2], "edge_counts": [0, 1], "edge_index": [[0], [2]]},
        "Graph 1 has 2 nodes",
    ),
    "negative": ({"node_counts": [2], "edge_counts": [1], "edge_index": [[-1], [0]]}, "joins -1 and 0"),
    "rows": ({"node_counts": [2], "edge_counts": [1], "edge_index": [[0], [1], [1]]}, "3 rows"),
    "ragged": ({"node_counts": [2], "edge_counts": [1], "edge_index": ([0], [1, 0])}, "1 sources but 2"),
    "reals": ({"node_counts": [2], "edge_counts": [1], "edge_index": [[0.5], [1.0]]}, "not integers"),
    "x rows": (
        {"node_counts": [2], "edge_counts": [0], "edge_index": [], "x": np.array([1])},
        "2 nodes but 1 rows",
    ),
    "x real": ({"node_counts": [1], "edge_counts": [0], "edge_index": [], "x": np.array([0.5])}, "float64"),
    "x negative": (
        {"node_counts": [1], "edge_counts": [0], "edge_index": [], "x": np.array([-1])},
        "negative",
    ),
    "x nan": ({"node_counts": [1], "edge_counts": [0], "edge_index": [], "x_num": [np.nan]}, "NaN"),
    "labels": (
        {"node_counts": [1], "edge_counts": [0], "edge_index": [], "y": [1, 2]},
        "1 graphs but 2 rows",
    ),
    "names": (
        {"node_counts": [1], "edge_counts": [0], "edge_index": [], "ids": ["a", "b"]},
        "1 graphs but 2 names",
    ),
}


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_wrong_arrays_are_refused_with_the_reason(wrong):
    arguments, reason = WRONG[wrong]
    with pytest.raises(DataError, match=reason):
        pack(**arguments)


def test_a_declaration_must_cover_the_codes():
    with pytest.raises(DataError, match="declared as"):
        pack([2], [0], [], x=np.array([0, 3]), spec=FeatureSpec(Features((3,))))
    wide = pack([2], [0], [], x=np.array([0, 3]), spec=FeatureSpec(Features((9,)), name="wide"))
    assert wide.spec.name == "wide"
