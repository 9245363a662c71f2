"""PyTorch Geometric and NetworkX graphs in and out, and what is refused with the number of the graph."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from torch_geometric.data import Data, HeteroData

from adgcl.core.errors import DataError
from adgcl.core.schema import Features, FeatureSpec
from adgcl.graphs.convert import from_networkx, from_pyg, to_networkx, to_pyg
from adgcl.graphs.store.labels import class_labels, guess_labels
from tests.graph_strategies import Plain, assert_same_store, packed, plain_graphs, unpacked

QUICK = settings(max_examples=40, deadline=None)


def data(nodes=2, edges=((0, 1), (1, 0)), **parts):
    index = torch.tensor(edges, dtype=torch.long).reshape(-1, 2).t()
    return Data(edge_index=index, num_nodes=nodes, **parts)


@QUICK
@given(plain_graphs())
def test_pyg_and_back_is_the_same_store(graphs):
    store = packed(graphs, task=class_labels(np.arange(len(graphs)))[1])
    again = from_pyg(to_pyg(store), spec=store.spec)
    assert_same_store(again, replace(store, ids=None))


@QUICK
@given(plain_graphs())
def test_networkx_and_back_is_the_same_graph(graphs):
    store = packed(graphs)
    again = from_networkx([to_networkx(store, i) for i in range(len(store))])
    for (codes, edges), (other_codes, other_edges) in zip(unpacked_or_bare(store), unpacked_or_bare(again)):
        assert codes == other_codes
        assert sorted(edges) == sorted(other_edges)
    assert again.y.tolist() == store.y.tolist()
    assert list(again.ids) == list(store.ids)


def unpacked_or_bare(store):
    if store.edge_attr is None:
        assert store.num_edges == 0
        store = replace(store, edge_attr=np.empty((0, 1), dtype=np.uint8))
    return unpacked(store)


def test_integers_are_categories_and_reals_stay_real():
    graphs = [
        data(x=torch.tensor([[0, 4], [2, 1]]), edge_attr=torch.tensor([0.5, 1.5])),
        data(1, (), x=torch.tensor([[1, 0]]), edge_attr=torch.empty(0)),
    ]
    store = from_pyg(graphs)
    assert store.spec == FeatureSpec(Features((3, 5)), Features((), 1))
    one_hot = from_pyg([data(x=torch.eye(2))])
    assert one_hot.spec.node == Features((), 2)
    assert from_pyg([data(x=torch.tensor([True, False]))]).spec.node == Features((2,))
    assert from_pyg([data(x=torch.ones(2, 1, dtype=torch.bfloat16))]).x_num.tolist() == [[1], [1]]


def test_both_kinds_of_columns_travel_together():
    store = from_pyg([data(x=torch.tensor([[1], [0]]), x_num=torch.rand(2, 3))])
    assert store.spec.node == Features((2,), 3)
    back = to_pyg(store)[0]
    assert (back.x.dtype, back.x_num.shape) == (torch.int64, (2, 3))


@pytest.mark.parametrize(
    ("labels", "kind", "rows"),
    [
        ([torch.tensor([1]), torch.tensor([-1])], "multiclass", [[1], [0]]),
        ([torch.tensor(0.0), torch.tensor(1.0)], "binary", [[0], [1]]),
        ([torch.tensor([[0.0, float("nan")]]), torch.tensor([[1.0, 1.0]])], "binary", [[0, np.nan], [1, 1]]),
        ([torch.tensor([0.5]), None], "regression", [[0.5], [np.nan]]),
        ([torch.tensor([3]), None], "multiclass", [[0], [np.nan]]),
        ([2, 3], "multiclass", [[0], [1]]),
    ],
)
def test_labels_are_guessed(labels, kind, rows):
    store = from_pyg([data(y=label) for label in labels])
    assert store.task.kind == kind
    np.testing.assert_array_equal(store.y, rows)


def test_a_given_task_leaves_labels_alone():
    task = class_labels([0, 1, 2, 3])[1]
    store = from_pyg([data(y=torch.tensor([3])), data(y=torch.tensor([1]))], task=task)
    assert (store.y.tolist(), store.task) == ([[3], [1]], task)
    assert to_pyg(store, [1])[0].y.tolist() == [1]
    assert from_pyg([data()]).task.kind == "none"


def test_labels_that_are_infinite_or_all_missing():
    assert guess_labels([np.nan, np.nan], whole_numbers=False)[1].kind == "none"
    with pytest.raises(DataError, match="graph 1 is infinite"):
        guess_labels([0.0, np.inf], whole_numbers=False)


GOOD = data(x=torch.zeros(2, 3))
BAD_PYG = {
    "no graphs": ([], "no graphs"),
    "no nodes": (
        [GOOD, Data(x=torch.zeros(0, 3), edge_index=torch.empty(2, 0).long())],
        "Graph 1 has no nodes",
    ),
    "mixed width": ([GOOD, data(x=torch.zeros(2, 4))], "Graph 1 has 4 columns of x, but graph 0 has 3"),
    "mixed kind": ([GOOD, data(x=torch.zeros(2, 3).long())], "x of graph 1 is int64"),
    "one without": ([GOOD, data()], "Graph 1 has no x"),
    "nan": ([GOOD, data(x=torch.full((2, 3), float("nan")))], "x of graph 1 has NaN"),
    "negative": ([data(x=torch.tensor([0, -1]))], "x of graph 0 has negative"),
    "out of range": ([GOOD, data(edges=((0, 5),), x=torch.zeros(2, 3))], "Graph 1 has 2 nodes"),
    "negative node": ([data(edges=((-1, 0),))], "Graph 0 has 2 nodes"),
    "edge rows": ([data(edge_attr=torch.zeros(3, 1))], "Graph 0 has 2 edges, but edge_attr has 3 rows"),
    "node rows": ([data(x_num=torch.zeros(5, 1))], "Graph 0 has 2 nodes, but x_num has 5 rows"),
    "node labels": ([data(y=torch.zeros(2)), data(3, y=torch.zeros(3))], "Graph 1 has 3 labels"),
    "edge index": ([Data(edge_index=torch.zeros(3, 2).long(), num_nodes=2)], "edge_index of graph 0"),
    "real edges": ([Data(edge_index=torch.zeros(2, 2), num_nodes=2)], "edge_index of graph 0 is float32"),
    "hetero": ([HeteroData()], "Graph 0, a HeteroData"),
    "complex": ([data(x=torch.zeros(2, dtype=torch.complex64))], "x of graph 0 is complex64"),
}


@pytest.mark.parametrize("case", BAD_PYG, ids=str)
def test_bad_pyg_graphs_are_named(case):
    graphs, reason = BAD_PYG[case]
    with pytest.raises(DataError, match=reason):
        from_pyg(graphs)


def test_pyg_nodes_are_counted_by_edges_when_nothing_else_says():
    assert from_pyg([Data(edge_index=torch.tensor([[0, 3], [3, 0]]))]).num_nodes == 4
    assert from_pyg([Data(x=torch.zeros(2, 1))]).num_edges == 0


def test_networkx_graphs_with_any_names_and_attributes():
    ring = nx.Graph(name="ring", label="active")
    ring.add_node("a", element="C", charge=0.5, label=7)
    ring.add_node(("b", 1), element="N", charge=-1, label=9)
    ring.add_edge("a", ("b", 1), weight=2.0)
    ring.add_edge("a", "a", weight=1.0)
    single = nx.DiGraph(name="single", label="inactive")
    single.add_node(object(), element="C", charge=0, label=7)
    store = from_networkx([ring, single])
    assert store.spec == FeatureSpec(Features((2, 2), 1), Features((), 1))
    assert store.x.tolist() == [[0, 0], [1, 1], [0, 0]]
    assert store.x_num[:, 0].tolist() == [0.5, -1, 0]
    assert store.edge_source.tolist() == [0, 1, 0]
    assert store.edge_num[:, 0].tolist() == [1, 2, 2]
    assert (store.task.names, store.y.tolist()) == (("active", "inactive"), [[0], [1]])
    assert list(store.ids) == ["ring", "single"]


def test_networkx_features_can_be_chosen_and_multigraphs_keep_their_edges():
    graph = nx.MultiGraph()
    graph.add_node(0, pos=(0.0, 1.0), mass=1)
    graph.add_node(1, pos=(2.0, 3.0), mass=2)
    graph.add_edge(0, 1)
    graph.add_edge(0, 1)
    store = from_networkx([graph], node_attributes=["pos"])
    assert store.x_num.tolist() == [[0, 1], [2, 3]]
    assert store.num_edges == 4
    assert to_networkx(store, 0).number_of_edges() == 2
    assert from_networkx([graph], node_attributes=[]).spec.node.empty


def test_to_networkx_is_directed_when_directions_differ():
    store = packed([Plain([0, 1], [(0, 1, 0), (1, 0, 1)]), Plain([0, 1], [(0, 1, 2), (1, 0, 2)])])
    assert isinstance(to_networkx(store, 0), nx.DiGraph)
    assert not to_networkx(store, -1).is_directed()
    assert to_networkx(store, 1).edges[0, 1]["edge_attr"] == [2]


def one_node(**attributes):
    graph = nx.Graph()
    graph.add_node(0, **attributes)
    return graph


BAD_NX = {
    "no graphs": ([], "no graphs"),
    "no nodes": ([nx.path_graph(2), nx.Graph()], "Graph 1 has no nodes"),
    "missing": ([one_node(a=1.0), one_node()], "node of graph 1 has no attribute 'a'"),
    "nan": ([one_node(a=1.0), one_node(a=float("nan"))], "graph 1 is NaN"),
    "negative": ([one_node(x=1), one_node(x=-1)], "graph 1 is negative"),
    "ragged": ([one_node(a=[1, 2]), one_node(a=[1])], "neither text nor numbers"),
    "object": ([one_node(a={"b": 1})], "neither text nor numbers"),
}


@pytest.mark.parametrize("case", BAD_NX, ids=str)
def test_bad_networkx_graphs_are_named(case):
    graphs, reason = BAD_NX[case]
    with pytest.raises(DataError, match=reason):
        from_networkx(graphs)


def test_neither_library_is_imported_before_it_is_needed():
    code = "import sys, adgcl.graphs.convert; print({'torch', 'torch_geometric', 'networkx'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"
