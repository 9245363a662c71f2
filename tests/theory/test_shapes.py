"""Shapes against NetworkX's atlas, its isomorphism tests and Burnside's lemma."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from adgcl.core.errors import ConfigError
from adgcl.theory import size
from adgcl.theory.shapes import all_shapes, edge_list
from adgcl.theory.size import check_size, count_graphs, needed_gb


@pytest.mark.parametrize("nodes", [2, 3, 4, 5, 6, 7])
def test_shapes_are_those_of_the_atlas(nodes):
    shapes = all_shapes(nodes)
    atlas = [graph for graph in nx.graph_atlas_g() if len(graph) == nodes]
    assert len(shapes) == len(atlas) == count_graphs(nodes)
    assert {shapes.find(graph) for graph in atlas} == set(range(len(atlas)))


@pytest.mark.parametrize(("nodes", "colours"), [(3, 2), (4, 2), (4, 3), (5, 2)])
def test_coloured_shapes_are_as_many_as_burnside_counts(nodes, colours):
    shapes = all_shapes(nodes, colours)
    assert len(shapes) == count_graphs(nodes, colours)
    graphs = [shapes.graph(i) for i in range(len(shapes))]
    hashes = [nx.weisfeiler_lehman_graph_hash(graph, node_attr="label", iterations=4) for graph in graphs]
    # With so few nodes 1-WL tells all coloured graphs apart.
    assert len(set(hashes)) == len(shapes)


def test_automorphisms_and_edge_orbits_are_those_networkx_finds():
    shapes = all_shapes(5)
    edges = edge_list(5)
    for shape in range(len(shapes)):
        graph = shapes.graph(shape)
        maps = list(nx.algorithms.isomorphism.GraphMatcher(graph, graph).isomorphisms_iter())
        assert len(shapes.automorphisms(shape)) == len(maps)
        own = [edges[bit] for bit in shapes.bits(shape)]
        orbits = {frozenset(tuple(sorted((m[u], m[v]))) for m in maps) for u, v in own}
        found = shapes.orbits(shape)
        assert {frozenset(own[i] for i in np.flatnonzero(found == o)) for o in set(found.tolist())} == orbits


def test_every_labelled_graph_has_the_shape_it_is_isomorphic_to():
    shapes = all_shapes(4)
    for mask, shape in enumerate(shapes.palettes[0].shape_of.tolist()):
        graph = nx.empty_graph(4)
        graph.add_edges_from(edge for bit, edge in enumerate(edge_list(4)) if mask >> bit & 1)
        assert nx.is_isomorphic(graph, shapes.graph(shape))


def test_subsets_are_counted_before_they_are_made():
    shapes = all_shapes(6)
    assert size._burnside(6, 1, 2) == sum(2 ** len(shapes.bits(i)) for i in range(len(shapes)))


def test_a_universe_too_large_for_memory_is_refused_before_it_is_made(monkeypatch):
    check_size(6)
    with pytest.raises(ConfigError, match=r"8 nodes is too large \(12,346 graphs\)") as error:
        check_size(8)
    assert "at most 7" in error.value.hint
    for nodes in (60, 100_000):  # at once: not even counted
        with pytest.raises(ConfigError, match=f"{nodes} nodes is too large"):
            check_size(nodes, 2)
    monkeypatch.setattr(size, "available_memory_gb", lambda: needed_gb(6) / 2)
    with pytest.raises(ConfigError, match="6 nodes make 5,096 graphs in 2 colours") as error:
        check_size(6, 2)
    assert "fewer colours" in error.value.hint
    with pytest.raises(ConfigError, match="at least 2 nodes"):
        check_size(1)
