"""Edge scores against the network written out for every edge."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from adgcl.graphs.kernels import edge_scores as module
from adgcl.graphs.kernels.edge_scores import edge_scores
from adgcl.graphs.store.store import pack
from tests.graph_cases import random_store


@pytest.mark.parametrize("directed", [False, True])
def test_they_equal_the_plain_network_with_gradients(directed):
    batch = random_store(directed=directed).batch(np.arange(12))
    shapes = (batch.num_nodes, 4), (10, 4), (5,), (1, 5), (1,)
    h, ends, bias, score, score_bias = (torch.randn(s, dtype=torch.float64, requires_grad=True) for s in shapes)
    assert torch.autograd.gradcheck(lambda *inputs: edge_scores(*inputs, batch), (h, ends, bias, score, score_bias))
    source, target = batch.edge_index
    joined = torch.cat((h[source], h[target]), 1)
    whole = torch.cat(ends.chunk(2), 1)
    slow = (joined @ whole.t() + bias).relu() @ score[0] + score_bias
    torch.testing.assert_close(edge_scores(h, ends, bias, score, score_bias, batch), slow)


@pytest.mark.parametrize("directed", [False, True])
def test_compiled_loops_equal_what_autograd_makes_of_the_network(directed, monkeypatch):
    batch = random_store(directed=directed).batch(np.arange(12))
    shapes = (batch.num_nodes, 4), (10, 4), (5,), (1, 5), (1,)
    inputs = [torch.randn(s, requires_grad=True) for s in shapes]
    slope = torch.randn(batch.num_edges)
    fast = edge_scores(*inputs, batch)
    of_fast = torch.autograd.grad(fast, inputs, slope)
    monkeypatch.setattr(module, "compiles", lambda *tensors: False)
    slow = edge_scores(*inputs, batch)
    torch.testing.assert_close(fast, slow)
    for ours, theirs in zip(of_fast, torch.autograd.grad(slow, inputs, slope)):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)


def test_graphs_without_edges_have_no_scores():
    batch = pack([3, 1], [0, 0], np.zeros((2, 0), dtype=np.int64)).batch([0, 1])
    inputs = [torch.randn(s, requires_grad=True) for s in ((4, 4), (10, 4), (5,), (1, 5), (1,))]
    scores = edge_scores(*inputs, batch)
    assert scores.shape == (0,)
    for grad in torch.autograd.grad(scores.sum(), inputs):
        assert not grad.any()
