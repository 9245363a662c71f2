"""Shares of a batch: every graph once, in order, and about as many nodes for each process."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from adgcl.graphs.store.share import _cuts, share_of
from tests.graph_cases import random_store


@given(st.lists(st.integers(1, 400), min_size=1, max_size=60), st.integers(1, 9))
def test_parts_are_whole_and_balanced(sizes, size):
    nodes = np.array(sizes)
    size = min(size, len(nodes))
    cuts = _cuts(nodes, size)
    assert (cuts[0], cuts[-1], len(cuts)) == (0, len(nodes), size + 1) and (np.diff(cuts) > 0).all()
    if len(nodes) >= 2 * size and nodes.max() * size <= nodes.sum():
        parts = np.add.reduceat(nodes, cuts[:-1])
        assert abs(parts - nodes.sum() / size).max() <= nodes.max()


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_shares_are_the_batch_in_order(size):
    store, ids = random_store(num_graphs=15, seed=3), np.random.default_rng(0).permutation(15)
    whole = store.batch(ids)
    parts = [share_of(store, ids, rank, size, torch.Generator()) for rank in range(size)]
    np.testing.assert_array_equal(np.concatenate([mine for mine, _ in parts]), ids)
    before = np.zeros(3, int)
    for mine, share in parts:
        part = store.batch(mine)
        np.testing.assert_array_equal(share.before, before)
        assert share.whole == (whole.num_graphs, whole.num_nodes, whole.num_edges)
        before += part.num_graphs, part.num_nodes, part.num_edges
    assert parts[0][1].with_edges * size == int((whole.edge_counts > 0).sum())
