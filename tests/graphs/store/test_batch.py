"""Minibatches against PyTorch Geometric's collation."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Batch

from adgcl.graphs.convert import to_pyg
from tests.graph_strategies import Plain, packed, plain_graphs

QUICK = settings(max_examples=40, deadline=None)


@QUICK
@given(plain_graphs(), st.data())
def test_a_batch_is_what_pyg_collates(graphs, data):
    store = packed(graphs)
    ids = data.draw(st.lists(st.integers(0, len(graphs) - 1), min_size=1, max_size=6))
    ours, theirs = store.batch(ids), Batch.from_data_list(to_pyg(store, ids))
    assert ours.edge_index.equal(theirs.edge_index)
    assert ours.batch.equal(theirs.batch)
    assert ours.node_ptr.equal(theirs.ptr)
    assert ours.x.equal(theirs.x)
    assert ours.x_num.equal(theirs.x_num)
    assert ours.edge_attr.equal(theirs.edge_attr)
    assert ours.y.float().equal(theirs.y)
    assert (ours.num_graphs, ours.num_nodes, ours.num_edges) == (len(ids), theirs.num_nodes, theirs.num_edges)


@QUICK
@given(plain_graphs())
def test_rows_and_transposed_rows_list_the_same_edges(graphs):
    batch = packed(graphs).batch(np.arange(len(graphs)))
    assert batch.crow.diff().equal(torch.bincount(batch.target, minlength=batch.num_nodes))
    crow, target, order = batch.transposed
    source = torch.repeat_interleave(torch.arange(batch.num_nodes), crow.diff())
    assert source.equal(batch.col[order])
    assert target.equal(batch.target[order])
    if batch.reverse is not None:
        assert batch.reverse[batch.reverse].equal(torch.arange(batch.num_edges))
        assert batch.col[batch.reverse].equal(batch.target)


def test_missing_parts_stay_missing_and_an_empty_batch_is_refused():
    store = packed([Plain([0], []), Plain([1, 2], [(0, 1, 0)])])
    batch = store.batch([0])
    assert (batch.num_edges, batch.edge_index.shape) == (0, (2, 0))
    assert store.batch([1]).reverse is None
    assert batch.to(torch.device("cpu")) is batch
    with pytest.raises(ValueError, match="at least one graph"):
        store.batch([])


def test_a_batch_from_a_read_only_store_can_be_written_to():
    store = packed([Plain([0, 1], [(0, 1, 0), (1, 0, 1)])])
    for name in ("x", "x_num", "edge_attr", "y", "in_degree", "edge_source"):
        getattr(store, name).flags.writeable = False
    batch = store.batch([0])
    batch.x_num.add_(1)
    assert store.x_num[0, 0] == 0
