"""Graph statistics: what each column counts, and that nothing but the graph matters."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from adgcl.core.schema import Features, FeatureSpec
from adgcl.estimators import GraphEmbedder
from adgcl.graphs.convert import from_networkx
from adgcl.graphs.kernels.structure import DEGREE_BINS
from adgcl.graphs.store.store import pack
from adgcl.training.run_config import resolve
from adgcl.training.trainer import build_method
from tests.graph_cases import random_store

BINS = len(DEGREE_BINS)


def statistics(store, **chosen):
    method = build_method(resolve({"method": {"name": "statistics", **chosen}}), store.spec, store.task)
    rows = method.embed(store.batch(np.arange(len(store)))).numpy()
    assert rows.shape == (len(store), method.width)
    return rows


def test_columns_by_hand():
    """A path of three nodes with labels 1, 0, 1: three nodes, four directed edges, degrees 1, 2, 1."""
    path = pack([3], [4], [[0, 1, 1, 2], [1, 0, 2, 1]], x=np.array([[1], [0], [1]]), spec=FeatureSpec(Features((4,))))
    row = statistics(path, iterations=1, buckets=7, log=False)[0]
    size, degrees, labels, subtrees = np.split(row, np.cumsum([2, BINS, 4]))
    assert size.tolist() == [3, 4]
    assert degrees[:4].tolist() == [0, 2, 1, 0] and degrees.sum() == 3
    assert labels.tolist() == [1, 2, 0, 0]
    # The two ends are alike; the middle may share their bin.
    assert sorted(subtrees[subtrees > 0].tolist()) in ([1, 2], [3])
    np.testing.assert_allclose(statistics(path, iterations=1, buckets=7)[0], np.log1p(row))


def test_real_features_give_mean_and_spread():
    store = random_store(num_graphs=8, seed=3, num_dim=2)
    moments = statistics(store)[:, -4:]
    for graph, row in enumerate(moments):
        values = store.x_num[store.node_ptr[graph] : store.node_ptr[graph + 1]]
        np.testing.assert_allclose(row, [*values.mean(0), *values.std(0)], rtol=1e-4, atol=1e-5)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_the_order_of_nodes_does_not_matter(seed):
    store = random_store(num_graphs=6, seed=seed % 50, node_sizes=(3, 2), edge_sizes=(2,))
    rng = np.random.default_rng(seed)
    # Node i of graph g becomes node number[g][i].
    number = [rng.permutation(n) for n in store.node_counts]
    source, target = store.edge_source.astype(int), store.edge_target()
    owner = np.repeat(np.arange(6), store.edge_counts)
    ends = np.array([[number[g][n] for g, n in zip(owner, side)] for side in (source, target)]).reshape(2, -1)
    codes = np.concatenate(
        [store.x[store.node_ptr[g] : store.node_ptr[g + 1]][np.argsort(number[g])] for g in range(6)]
    )
    moved = pack(store.node_counts, store.edge_counts, ends, x=codes, edge_attr=store.edge_attr, spec=store.spec)
    np.testing.assert_array_equal(statistics(moved), statistics(store))


def test_rows_do_not_depend_on_company_or_seed():
    store = random_store(num_graphs=9, seed=1, node_sizes=(3,))
    whole = statistics(store)
    np.testing.assert_array_equal(np.concatenate([statistics(store.select([i])) for i in range(9)]), whole)
    torch.manual_seed(5)
    np.testing.assert_array_equal(statistics(store), whole)


def test_subtrees_tell_apart_what_degrees_do_not():
    """Two trees of like degrees differ to Weisfeiler and Lehman; two triangles and a hexagon do not."""
    trees = [nx.Graph([(0, 1), (1, 2), (2, 3), (3, 4), (1, 5)]), nx.Graph([(0, 1), (1, 2), (2, 3), (3, 4), (2, 5)])]
    regular = [nx.cycle_graph(6), nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3))]
    degrees_only = statistics(from_networkx(trees), iterations=0)
    np.testing.assert_array_equal(*degrees_only)
    assert not np.array_equal(*statistics(from_networkx(trees), iterations=2))
    np.testing.assert_array_equal(*statistics(from_networkx(regular), iterations=4))


@pytest.mark.parametrize("sizes", [(), (4,), (4, 3), (2000,)])
def test_width_follows_the_features(sizes):
    store = random_store(num_graphs=4, node_sizes=sizes)
    rounds = 3 + (len(sizes) > 1)
    counted = sum(min(size, 512) for size in sizes)
    assert statistics(store, iterations=3, buckets=5).shape[1] == 2 + BINS + counted + 5 * rounds


def test_a_saved_embedder_counts_in_new_graphs(tmp_path):
    old, new = [nx.path_graph(n) for n in (3, 4, 5)], [nx.cycle_graph(n) for n in (3, 30)]
    embedder = GraphEmbedder("statistics", settings={"data": {"features": "constant"}}).fit(old)
    rows = embedder.transform(new)
    assert rows.shape == (2, len(embedder.get_feature_names_out()))
    np.testing.assert_allclose(rows[:, :2], np.log1p([[3, 6], [30, 60]]), rtol=1e-6)
    loaded = GraphEmbedder.load(embedder.save(tmp_path / "kept"))
    np.testing.assert_array_equal(loaded.transform(new), rows)
