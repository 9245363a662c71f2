"""Generated graphs: the motif is there, the planted edges are the others, and a seed says it all."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from adgcl.core.errors import ConfigError, UnknownNameError
from adgcl.data.families.generated import MOTIF_NODES, MOTIFS, Part, planted_graphs
from adgcl.data.statistics import count
from adgcl.graphs.convert import to_networkx
from tests.graph_strategies import assert_same_store


@pytest.fixture(scope="module")
def planted():
    return planted_graphs(60, seed=1, motifs=tuple(MOTIFS))


def test_planted_edges_aside_a_graph_is_a_tree_with_its_motif(planted):
    dataset, parts = planted
    store = dataset.store
    assert parts.shape == (store.num_edges,)
    for i in range(0, 60, 7):
        edges = slice(store.edge_ptr[i], store.edge_ptr[i + 1])
        kept = parts[edges] != Part.PLANTED
        pairs = zip(store.edge_source[edges][kept], store.edge_target()[edges][kept], strict=True)
        graph = nx.Graph(list(pairs))
        motif = MOTIFS[dataset.task.names[int(store.y[i, 0])]]
        assert graph.number_of_nodes() == store.node_counts[i]
        assert graph.number_of_edges() == store.node_counts[i] - MOTIF_NODES + len(motif)
        assert nx.is_connected(graph)
        whole = to_networkx(store, i)
        matches = nx.algorithms.isomorphism.GraphMatcher(whole, nx.Graph(motif)).subgraph_is_isomorphic()
        assert matches
        assert np.sum(parts[edges] == Part.MOTIF) == 2 * len(motif)
        of_motif = store.edge_source[edges][parts[edges] == Part.MOTIF]
        assert nx.is_isomorphic(whole.subgraph(of_motif.tolist()), nx.Graph(motif))


def test_both_directions_of_an_edge_belong_to_the_same_part(planted):
    dataset, parts = planted
    store = dataset.store
    reverse = store.edge_reverse + np.repeat(store.edge_ptr[:-1], store.edge_counts)
    np.testing.assert_array_equal(parts, parts[reverse])


def test_share_of_planted_edges_and_balance_of_classes(planted):
    dataset, parts = planted
    found = count(dataset.store)
    assert np.mean(parts == Part.PLANTED) == pytest.approx(1 / 3, abs=0.01)
    assert (found.self_loops, found.isolated_nodes, set(found.classes.values())) == (0, 0, {15})
    _, plain = planted_graphs(5, redundant=0)
    assert set(plain) == {Part.MOTIF, Part.TREE}
    small, _ = planted_graphs(20, tree_nodes=(1, 1), redundant=1.0)
    pairs = [set(zip(*np.sort(p, axis=0), strict=True)) for p in edges_of(small.store)]
    assert [2 * len(p) for p in pairs] == small.store.edge_counts.tolist()


def edges_of(store):
    target = store.edge_target()
    for i in range(len(store)):
        edges = slice(store.edge_ptr[i], store.edge_ptr[i + 1])
        yield np.stack((store.edge_source[edges], target[edges]))


def test_kinds_take_turns_along_a_chain_from_the_motif():
    dataset, parts = planted_graphs(60, seed=1, kinds=4)
    store = dataset.store
    kind = store.x[:, 0].astype(int)
    for i in range(0, 60, 7):
        edges, first = slice(store.edge_ptr[i], store.edge_ptr[i + 1]), store.node_ptr[i]
        pairs = np.stack((store.edge_source[edges], store.edge_target()[edges]))
        own = kind[first : store.node_ptr[i + 1]]
        assert set(own[pairs[:, parts[edges] == Part.MOTIF]].ravel()) == {0}
        tree = nx.Graph(pairs[:, parts[edges] == Part.TREE].T.tolist())
        (start,) = (node for node in tree if own[node] == 0)
        chain = list(nx.dfs_preorder_nodes(tree, start))
        assert max(dict(tree.degree).values()) == 2
        assert len(chain) == store.node_counts[i] - MOTIF_NODES + 1
        assert own[chain[1:]].tolist() == [step % 4 + 1 for step in range(len(chain) - 1)]


def test_the_seed_decides(planted):
    again, parts = planted_graphs(60, seed=1, motifs=tuple(MOTIFS))
    assert_same_store(again.store, planted[0].store)
    np.testing.assert_array_equal(parts, planted[1])
    other, _ = planted_graphs(60, seed=2, motifs=tuple(MOTIFS))
    assert other.store.y.tolist() != again.store.y.tolist()
    assert "seed 1" in again.origin.note


@pytest.mark.parametrize(
    "wrong",
    [
        {"num_graphs": 0},
        {"motifs": ()},
        {"motifs": ("star", "star")},
        {"tree_nodes": (3, 2)},
        {"redundant": 2},
        {"kinds": -1},
    ],
)
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(ConfigError):
        planted_graphs(**wrong)


def test_an_unknown_motif_names_its_neighbours():
    with pytest.raises(UnknownNameError, match="'house'"):
        planted_graphs(3, motifs=("hause",))
