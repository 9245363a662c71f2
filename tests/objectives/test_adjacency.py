"""The loss of a rebuilt adjacency, against dense matrices, scikit-learn's cross-entropy and finite differences."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from adgcl.graphs.store.store import pack
from adgcl.objectives import adjacency
from adgcl.objectives.adjacency import adjacency_loss
from tests.graph_cases import random_store


def slow(h, batch):
    """Graph by graph, with whole matrices."""
    losses = []
    for g in range(batch.num_graphs):
        nodes = slice(batch.node_ptr[g], batch.node_ptr[g + 1])
        size = nodes.stop - nodes.start
        if size < 2:
            continue
        joined = torch.zeros(size, size)
        edges = slice(batch.edge_ptr[g], batch.edge_ptr[g + 1])
        joined[batch.target[edges] - nodes.start, batch.col[edges] - nodes.start] = 1.0
        different = ~torch.eye(size, dtype=torch.bool)
        score = (h[nodes] @ h[nodes].t())[different]
        losses.append(F.binary_cross_entropy_with_logits(score, joined[different]))
    return torch.stack(losses).mean()


@pytest.mark.parametrize("at_once", [1, 40, 1 << 22])
def test_it_is_the_cross_entropy_of_all_pairs(monkeypatch, at_once):
    monkeypatch.setattr(adjacency, "_AT_ONCE", at_once)
    batch = random_store(num_graphs=9, seed=3).batch(np.arange(9))
    torch.manual_seed(0)
    h = torch.randn(batch.num_nodes, 5, requires_grad=True)
    ours, theirs = adjacency_loss(h, batch), slow(h, batch)
    torch.testing.assert_close(ours, theirs)
    grads = [torch.autograd.grad(3 * loss, h)[0] for loss in (ours, theirs)]
    torch.testing.assert_close(*grads)


def test_closed_forms():
    pair = pack([2, 2, 1], [2, 0, 0], [[0, 1], [1, 0]]).batch([0, 1, 2])
    nothing = adjacency_loss(torch.zeros(5, 3), pair)
    torch.testing.assert_close(nothing, torch.tensor(np.log(2.0), dtype=torch.float32))
    right = torch.tensor([[9.0, 0.0], [9.0, 0.0], [9.0, 0.0], [-9.0, 0.0], [5.0, 5.0]])
    assert adjacency_loss(right, pair) < 1e-6
    assert adjacency_loss(torch.ones(1, 3), pair_of_nothing()) == 0


def pair_of_nothing():
    return pack([1], [0], np.zeros((2, 0), int)).batch([0])
