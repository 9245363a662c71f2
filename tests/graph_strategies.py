"""Hypothesis strategies for graphs of every awkward kind, and a slow obvious packing of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from adgcl.graphs.store.store import GraphStore, pack


@dataclass(frozen=True)
class Plain:
    """One graph as lists: node codes, and edges (source, target, code) in the order they were given."""

    codes: list[int]
    edges: list[tuple[int, int, int]]

    def sorted_edges(self, simple: bool = False) -> list[tuple[int, int, int]]:
        """By target, then source, then order; one edge at a time."""
        kept: list[tuple[int, int, int]] = []
        for edge in sorted(self.edges, key=lambda e: (e[1], e[0])):
            repeated = any(edge[:2] == other[:2] for other in kept)
            if not simple or (edge[0] != edge[1] and not repeated):
                kept.append(edge)
        return kept


@st.composite
def plain_graphs(draw, max_graphs: int = 5, min_graphs: int = 1) -> list[Plain]:
    """Graphs with self-loops, repeated edges, isolated nodes, no edges, one node; all undirected or not."""
    undirected = draw(st.booleans())
    graphs = []
    for _ in range(draw(st.integers(min_graphs, max_graphs))):
        size = draw(st.integers(1, 6))
        node = st.integers(0, size - 1)
        edges = draw(st.lists(st.tuples(node, node, st.integers(0, 3)), max_size=8))
        if undirected:
            edges = edges + [(t, s, code) for s, t, code in edges if s != t]
        codes = draw(st.lists(st.integers(0, 300), min_size=size, max_size=size))
        graphs.append(Plain(codes, draw(st.permutations(edges))))
    return graphs


def packed(graphs: list[Plain], **options) -> GraphStore:
    """`pack` of these graphs, with a label and a real feature for each."""
    edges = [edge for graph in graphs for edge in graph.edges]
    codes = [code for graph in graphs for code in graph.codes]
    return pack(
        [len(graph.codes) for graph in graphs],
        [len(graph.edges) for graph in graphs],
        np.array([edge[:2] for edge in edges], dtype=np.int64).reshape(-1, 2).T,
        x=np.array(codes),
        x_num=np.array(codes, dtype=float)[:, None] / 2,
        edge_attr=np.array([edge[2] for edge in edges], dtype=np.int64),
        y=np.arange(len(graphs)),
        ids=[f"graph {i}" for i in range(len(graphs))],
        **options,
    )


def unpacked(store: GraphStore) -> list[tuple[list[int], list[tuple[int, int, int]]]]:
    """What each graph of a store holds: node codes, and edges in store order."""
    target = store.edge_target()
    found = []
    for i in range(len(store)):
        nodes = slice(store.node_ptr[i], store.node_ptr[i + 1])
        edges = range(store.edge_ptr[i], store.edge_ptr[i + 1])
        codes = [int(row[0]) for row in store.x[nodes]]
        found.append((codes, [(int(store.edge_source[e]), int(target[e]), int(store.edge_attr[e, 0])) for e in edges]))
    return found


def assert_same_store(one: GraphStore, other: GraphStore) -> None:
    """Every array, name and declaration is the same."""
    names = [
        "node_ptr",
        "edge_ptr",
        "in_degree",
        "edge_source",
        "edge_reverse",
        "x",
        "x_num",
        "edge_attr",
        "edge_num",
        "y",
    ]
    for name in names:
        a, b = getattr(one, name), getattr(other, name)
        assert (a is None) == (b is None), name
        if a is not None:
            np.testing.assert_array_equal(a, b, err_msg=name)
            assert a.dtype == b.dtype, name
    assert (None if one.ids is None else list(one.ids)) == (None if other.ids is None else list(other.ids))
    assert (one.spec, one.task) == (other.spec, other.task)
