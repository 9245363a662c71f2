"""Messages with edge features against the plain formula."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from adgcl.graphs.kernels import messages
from adgcl.graphs.kernels.messages import edge_message_sum
from tests.graph_cases import random_store
from tests.kernels import compiled_and_torch


@pytest.fixture(params=[False, True], ids=["undirected", "directed"])
def batch(request):
    return random_store(directed=request.param, edge_sizes=(3,)).batch(np.arange(12))


kernels = compiled_and_torch(messages)


@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("relu", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_it_equals_autograd_of_the_plain_formula(batch, weighted, relu):
    x = torch.randn(batch.num_nodes, 6, requires_grad=True)
    table = torch.randn(3, 6, requires_grad=True)
    weight = torch.rand(batch.num_edges, requires_grad=True)
    code = batch.edge_attr[:, 0]
    inputs = (x, table, weight) if weighted else (x, table)
    fast = edge_message_sum(x, table, code, batch, weight if weighted else None, relu)
    message = x[batch.edge_index[0]] + table[code]
    message = (message.relu() if relu else message) * (weight[:, None] if weighted else 1.0)
    slow = torch.zeros_like(x).index_add(0, batch.target, message)
    torch.testing.assert_close(fast, slow)
    for ours, theirs in zip(
        torch.autograd.grad(fast.pow(2).sum(), inputs), torch.autograd.grad(slow.pow(2).sum(), inputs)
    ):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)


def test_edgeless_graphs_get_no_messages():
    batch = random_store(edge_sizes=(3,)).batch([0])
    nothing = batch.col[:0]
    x, table = torch.randn(4, 6, requires_grad=True), torch.randn(3, 6, requires_grad=True)

    class Edgeless:
        col, target, num_nodes = nothing, nothing, 4

    out = edge_message_sum(x, table, nothing, Edgeless())
    assert not out.any() and out.shape == (4, 6)
    for grad in torch.autograd.grad(out.sum(), (x, table)):
        assert not grad.any()
