"""The adjacency as a matrix, against dense products."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from adgcl.graphs.kernels import matrix
from adgcl.graphs.store.store import pack
from tests.graph_cases import random_store


@pytest.fixture(params=[False, True], ids=["undirected", "directed"])
def batch(request):
    return random_store(directed=request.param).batch(np.arange(12))


@pytest.fixture(params=["compiled", "torch", "scattered"], autouse=True)
def kernels(request, monkeypatch):
    if request.param != "compiled":
        monkeypatch.setattr(matrix, "compiles", lambda *tensors: False)
    if request.param == "scattered":
        monkeypatch.setattr(matrix, "_BAG_DEVICES", ())


def dense(batch, keeps):
    """`I + A` of every copy on the diagonal."""
    size = batch.num_nodes
    whole = torch.eye(len(keeps) * size)
    source, target = batch.edge_index
    for copy, keep in enumerate(keeps):
        weights = torch.ones(batch.num_edges) if keep is None else keep
        whole.index_put_((target + copy * size, source + copy * size), weights, accumulate=True)
    return whole


@pytest.mark.parametrize("weighed", ["", "w", "-w", "w-", "ww", "--w", "w-w"])
def test_copies_stand_on_the_diagonal(batch, weighed):
    keeps = [torch.rand(batch.num_edges) if mark == "w" else None for mark in weighed or "-"]
    adjacency, expected = matrix.LoopedAdjacency(batch, keeps), dense(batch, keeps)
    x = torch.randn(len(expected), 3)
    torch.testing.assert_close(adjacency.times(x), expected @ x)
    torch.testing.assert_close(adjacency.transposed_times(x), expected.t() @ x)


def test_products_sampled_at_the_edges(batch):
    grads = [torch.randn(batch.num_nodes, width) for width in (1, 4, 37)]
    xs = [torch.randn_like(grad) for grad in grads]
    source, target = batch.edge_index
    expected = sum((grad @ x.t())[target, source] for grad, x in zip(grads, xs))
    torch.testing.assert_close(matrix.dots_at_edges(grads, xs, batch), expected)


def test_weighted_rows_with_empty_sums_at_every_place():
    x, index, start = torch.randn(5, 2), torch.tensor([4, 0, 0, 2]), torch.tensor([0, 0, 3, 3, 4])
    weight = torch.rand(4)
    expected = torch.zeros(5, 2)
    expected[1] = weight[0] * x[4] + (weight[1] + weight[2]) * x[0]
    expected[3] = weight[3] * x[2]
    torch.testing.assert_close(matrix.weighted_rows(x, start, index, weight), expected)


def test_edgeless_graphs():
    empty = pack([3, 1], [0, 0], np.zeros((2, 0), dtype=np.int64)).batch([0, 1])
    x = torch.randn(empty.num_nodes, 3)
    adjacency = matrix.LoopedAdjacency(empty, [None])
    torch.testing.assert_close(adjacency.times(x), x)
    torch.testing.assert_close(adjacency.transposed_times(x), x)
    assert matrix.dots_at_edges([x], [x], empty).shape == (0,)
