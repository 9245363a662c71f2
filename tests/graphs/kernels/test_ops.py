"""Sparse kernels against loops, finite differences and PyTorch Geometric."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch_geometric.nn import global_add_pool, global_max_pool, global_mean_pool

from adgcl.graphs.kernels import ops
from tests.graph_cases import random_store, slow_neighbour_sum


@pytest.fixture(params=[False, True], ids=["undirected", "directed"])
def batch(request):
    return random_store(directed=request.param).batch(np.arange(12))


def test_neighbour_sum_equals_a_loop_with_gradients(batch):
    x = torch.randn(batch.num_nodes, 5, requires_grad=True)
    weight = torch.rand(batch.num_edges, requires_grad=True)
    coefficients = torch.randn(batch.num_nodes, 5)
    fast = ops.neighbour_sum(x, batch, weight)
    slow = slow_neighbour_sum(x, batch.edge_index, weight)
    torch.testing.assert_close(fast, slow)
    fast_grads = torch.autograd.grad((fast * coefficients).sum(), (x, weight))
    slow_grads = torch.autograd.grad((slow * coefficients).sum(), (x, weight))
    for ours, theirs in zip(fast_grads, slow_grads):
        torch.testing.assert_close(ours, theirs)


def test_gradcheck_of_the_neighbour_sum(batch):
    x = torch.randn(batch.num_nodes, 3, dtype=torch.float64, requires_grad=True)
    weight = torch.rand(batch.num_edges, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda a, w: ops.neighbour_sum(a, batch, w), (x, weight))


def test_readouts_equal_pyg(batch):
    x = torch.randn(batch.num_nodes, 4, requires_grad=True)
    for ours, theirs in (
        (ops.graph_sum, global_add_pool),
        (ops.graph_mean, global_mean_pool),
        (ops.graph_max, global_max_pool),
    ):
        torch.testing.assert_close(ours(x, batch), theirs(x, batch.batch, batch.num_graphs))
        torch.testing.assert_close(
            torch.autograd.grad(ours(x, batch).pow(3).sum(), x)[0],
            torch.autograd.grad(theirs(x, batch.batch, batch.num_graphs).pow(3).sum(), x)[0],
        )


def test_readouts_of_several_copies_are_blocks(batch):
    x = torch.randn(2 * batch.num_nodes, 4)
    for readout in (ops.graph_sum, ops.graph_mean, ops.graph_max):
        parts = [readout(part, batch) for part in x.chunk(2)]
        torch.testing.assert_close(readout(x, batch, 2), torch.cat(parts))
