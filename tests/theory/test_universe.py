"""Universes against brute force: classes, probabilities, and what dropping edges makes."""

from __future__ import annotations

from itertools import combinations

import networkx as nx
import numpy as np
import pytest

from adgcl.theory.universe import universe_of, whole_universe

HEXAGON, TRIANGLES = nx.cycle_graph(6), nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3))


def wl_hash(graph: nx.Graph) -> str:
    """NetworkX's own colour refinement, with as many rounds as there are nodes."""
    return nx.weisfeiler_lehman_graph_hash(graph, iterations=len(graph))


@pytest.mark.parametrize("nodes", [5, 6, 7])
def test_classes_are_those_of_networkx(nodes):
    universe = whole_universe(nodes)
    hashes = [wl_hash(universe.graph(i)) for i in range(len(universe))]
    assert len(set(zip(hashes, universe.class_of.tolist()))) == len(set(hashes)) == universe.num_classes


def test_the_smallest_graphs_that_are_confused_have_six_nodes():
    assert whole_universe(5).num_classes == 34
    universe = whole_universe(6)
    pairs = [np.flatnonzero(universe.class_of == c) for c in np.flatnonzero(np.bincount(universe.class_of) > 1)]
    assert [len(pair) for pair in pairs] == [2, 2, 2, 2]
    prism = nx.circular_ladder_graph(3)
    found = [set(universe.members[pair].tolist()) for pair in pairs]
    for first, second in ((HEXAGON, TRIANGLES), (prism, nx.complete_bipartite_graph(3, 3))):
        assert {universe.shapes.find(first), universe.shapes.find(second)} in found


def test_labelled_graphs_are_equally_likely():
    universe = whole_universe(4, "labelled")
    assert universe.weight.sum() == pytest.approx(1)
    counts = np.bincount(universe.shapes.palettes[0].shape_of)
    np.testing.assert_allclose(universe.weight, counts / 64)


def test_copies_are_those_of_a_loop_over_subsets():
    universe = whole_universe(4)
    target = {wl_hash(universe.graph(i)): int(universe.target_of[i]) for i in range(len(universe))}
    for row in range(len(universe)):
        graph, counts = universe.graph(row), np.zeros(universe.num_targets)
        for kept in range(graph.number_of_edges() + 1):
            for edges in combinations(graph.edges, kept):
                part = nx.empty_graph(4)
                part.add_edges_from(edges)
                counts[target[wl_hash(part)]] += 1
        np.testing.assert_array_equal(universe.copies[row], counts)


def test_a_universe_of_two_graphs_merges_what_1_wl_confuses():
    universe = universe_of([HEXAGON, TRIANGLES])
    assert len(universe) == 2 and universe.num_classes == 1
    np.testing.assert_allclose(universe.merged(np.eye(2, universe.num_targets))[0, :2], [0.5, 0.5])


def test_the_store_holds_the_same_graphs():
    universe = whole_universe(5, num_colours=2)
    store = universe.store()
    degrees = [sorted(d for _, d in universe.graph(i).degree) for i in range(len(universe))]
    found = [sorted(store.in_degree[a:b].tolist()) for a, b in zip(store.node_ptr, store.node_ptr[1:])]
    assert found == degrees and store.spec.node.sizes == (2,)
