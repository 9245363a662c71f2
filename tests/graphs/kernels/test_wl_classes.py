"""1-WL classes against a slow version with sorted tuples, over many kinds of graphs."""

from __future__ import annotations

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest

from adgcl.graphs.convert import from_networkx
from adgcl.graphs.kernels import wl_classes as module
from adgcl.graphs.kernels.wl_classes import wl_classes
from adgcl.graphs.store import adjacency
from tests.graph_cases import random_store


def slow_classes(store) -> list[tuple]:
    """Colours as nested tuples, refined as often as the largest graph has nodes."""
    batch = store.batch(np.arange(len(store)))
    x = batch.x.tolist() if batch.x is not None else [[]] * batch.num_nodes
    bonds = batch.edge_attr.tolist() if batch.edge_attr is not None else [[]] * batch.num_edges
    colours = [hash(tuple(row)) for row in x]
    for _ in range(int(store.node_counts.max())):
        near: list[list] = [[] for _ in colours]
        for source, target, bond in zip(batch.col.tolist(), batch.target.tolist(), bonds):
            near[target].append((colours[source], tuple(bond)))
        colours = [hash((own, tuple(sorted(around)))) for own, around in zip(colours, near)]
    ends = batch.node_ptr.tolist()
    return [tuple(sorted(colours[a:b])) for a, b in pairwise(ends)]


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("labels", [{}, {"node_sizes": (2,)}, {"node_sizes": (2,), "edge_sizes": (2,)}])
def test_classes_are_those_of_sorted_tuples(directed, labels, monkeypatch):
    store = random_store(num_graphs=400, seed=3, directed=directed, **labels)
    slow = slow_classes(store)
    # Many small batches, so that graphs are compared across them.
    monkeypatch.setattr(adjacency, "RUN_EDGES", 64)
    fast = wl_classes(store)
    assert len(set(fast.tolist())) < len(store)
    assert len(set(zip(fast.tolist(), slow))) == len(set(slow)) == fast.max() + 1


def test_regular_graphs_share_a_class_and_long_paths_do_not():
    hexagon, triangles = nx.cycle_graph(6), nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3))
    classes = wl_classes(from_networkx([hexagon, triangles, nx.cycle_graph(7)]))
    assert classes[0] == classes[1] != classes[2]
    # These differ only after many rounds: a leaf on the middle of a path, or beside it.
    paths = [nx.path_graph(41) for _ in range(2)]
    for graph, place in zip(paths, (20, 19)):
        graph.add_edge(place, 41)
    twin = nx.relabel_nodes(paths[0], dict(zip(range(42), np.random.default_rng(0).permutation(42).tolist())))
    classes = wl_classes(from_networkx([*paths, twin]))
    assert classes[0] == classes[2] != classes[1]


def test_real_values_are_colours():
    graphs = [nx.path_graph(3) for _ in range(3)]
    for graph, value in zip(graphs, (1.0, 1.0, 2.0)):
        nx.set_node_attributes(graph, value, "weight")
    classes = wl_classes(from_networkx(graphs))
    assert classes[0] == classes[1] != classes[2]


def test_graphs_that_are_alone_are_left_out_of_later_rounds(monkeypatch):
    store = from_networkx([nx.path_graph(n) for n in (3, 4, 5)] + [nx.cycle_graph(30)] * 2)
    sizes = []
    whole = module._summaries
    monkeypatch.setattr(module, "_summaries", lambda part, rounds: (sizes.append(len(part)), whole(part, rounds))[1])
    wl_classes(store)
    assert sizes[0] == 5 and set(sizes[1:]) <= {2}
