"""Weisfeiler-Lehman colours and histograms against slow versions with dictionaries."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from adgcl.graphs.convert import from_networkx
from adgcl.graphs.kernels.structure import DEGREE_BINS, count_by_graph, degree_bins, wl_colours
from tests.graph_cases import random_store


def slow_colours(batch, iterations):
    """Every colour as the nested tuple that it stands for."""
    x = batch.x.tolist() if batch.x is not None else [()] * batch.num_nodes
    bonds = batch.edge_attr.tolist() if batch.edge_attr is not None else [()] * batch.num_edges
    colours = [[tuple(row) for row in x]]
    for _ in range(iterations):
        last, incoming = colours[-1], [[] for _ in range(batch.num_nodes)]
        for source, target, bond in zip(batch.col.tolist(), batch.target.tolist(), bonds):
            incoming[target].append((last[source], tuple(bond)))
        colours.append([(own, tuple(sorted(near))) for own, near in zip(last, incoming)])
    return colours


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("labels", [{}, {"node_sizes": (3,)}, {"node_sizes": (3, 2), "edge_sizes": (2, 2)}])
def test_colours_tell_apart_exactly_what_tuples_do(directed, labels):
    batch = random_store(num_graphs=40, seed=5, directed=directed, **labels).batch(np.arange(40))
    for fast, slow in zip(wl_colours(batch, 3), slow_colours(batch, 3), strict=True):
        pairs = set(zip(fast.tolist(), slow))
        assert len(pairs) == len(set(fast.tolist())) == len(set(slow))


def test_colours_do_not_depend_on_company():
    store = random_store(num_graphs=12, seed=6, node_sizes=(3,), edge_sizes=(2,))
    whole = wl_colours(store.batch(np.arange(12)), 2)[2]
    alone = np.concatenate([wl_colours(store.batch([i]), 2)[2] for i in range(12)])
    np.testing.assert_array_equal(whole, alone)


def test_two_rounds_know_a_hexagon_with_a_tail_but_not_two_triangles_from_a_hexagon():
    """1-WL cannot tell regular graphs of one degree apart; it does see what sticks out."""
    hexagon, triangles = nx.cycle_graph(6), nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3))
    tail = nx.lollipop_graph(3, 3)
    batch = from_networkx([hexagon, triangles, tail]).batch([0, 1, 2])
    colours = np.split(wl_colours(batch, 4)[4], [6, 12])
    assert set(colours[0]) == set(colours[1]) and len(set(colours[0])) == 1
    assert not set(colours[0]) & set(colours[2])


def test_degree_bins_are_exact_then_double():
    star = from_networkx([nx.star_graph(n) for n in (3, 16, 31, 32, 5000)])
    batch = star.batch(np.arange(5))
    begins = DEGREE_BINS[degree_bins(batch)[batch.node_ptr[:-1].numpy()]]
    assert begins.tolist() == [3, 16, 16, 32, 4096]


def test_counts_are_those_of_a_loop():
    batch = random_store(num_graphs=9, seed=2).batch(np.arange(9))
    bins = np.random.default_rng(0).integers(0, 5, batch.num_nodes)
    slow = np.zeros((9, 5))
    for graph, place in zip(batch.batch.tolist(), bins.tolist()):
        slow[graph, place] += 1
    np.testing.assert_array_equal(count_by_graph(batch, bins, 5), slow)
