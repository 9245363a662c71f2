"""The local-global loss and the prior against their sums written out, closed forms and symmetries."""

from __future__ import annotations

import math

import pytest
import torch

from adgcl.objectives.local_global import local_global, prior_matching

OWNER = torch.tensor([0, 0, 1, 2, 2, 2, 3])


def rows(seed: int = 0, scale: float = 1.0) -> tuple[torch.Tensor, torch.Tensor]:
    noise = torch.Generator().manual_seed(seed)
    return scale * torch.randn(7, 5, generator=noise), scale * torch.randn(4, 5, generator=noise)


def written_out(z_node: torch.Tensor, z_graph: torch.Tensor, owner: torch.Tensor) -> float:
    """Pair after pair: `mean over negatives of softplus(-s) + s - log 2`, less `mean over positives of ...`."""
    positives, negatives = [], []
    for i, node in enumerate(z_node.tolist()):
        for j, graph in enumerate(z_graph.tolist()):
            s = sum(a * b for a, b in zip(node, graph))
            if int(owner[i]) == j:
                positives.append(math.log(2) - math.log1p(math.exp(-s)))
            else:
                negatives.append(math.log1p(math.exp(-s)) + s - math.log(2))
    return sum(negatives) / len(negatives) - sum(positives) / len(positives)


@pytest.mark.parametrize("scale", [0.1, 1.0, 4.0])
def test_equals_the_double_loop(scale):
    z_node, z_graph = rows(1, scale)
    expected = written_out(z_node.double(), z_graph.double(), OWNER)
    assert float(local_global(z_node, z_graph, OWNER)) == pytest.approx(expected, rel=1e-5, abs=1e-6)


def test_by_hand():
    """Two graphs of one node each, own scores a and foreign scores b: softplus(b) + softplus(-a) - 2 log 2."""
    a, b = 1.5, -0.5
    z_node, z_graph = torch.eye(2), torch.tensor([[a, b], [b, a]])
    expected = math.log1p(math.exp(b)) + math.log1p(math.exp(-a)) - 2 * math.log(2)
    assert float(local_global(z_node, z_graph, torch.tensor([0, 1]))) == pytest.approx(expected, rel=1e-6)


def test_closed_forms_of_knowing_nothing_and_everything():
    owner = torch.tensor([0, 1, 1, 2])
    assert float(local_global(torch.zeros(4, 3), torch.randn(3, 3), owner)) == pytest.approx(0.0, abs=1e-6)
    sure = 200 * torch.eye(3) - 100
    assert float(local_global(torch.eye(3)[owner], sure, owner)) == pytest.approx(-2 * math.log(2), rel=1e-6)
    # Wrong and sure of it: every pair pays its score, not infinity.
    assert float(local_global(torch.eye(3)[owner], -sure, owner)) == pytest.approx(200 - 2 * math.log(2), rel=1e-6)


def test_gradients_are_those_of_the_formula():
    """d/ds is sigmoid(s) / (N (G - 1)) for a negative pair and -sigmoid(-s) / N for a positive one."""
    z_node, z_graph = (z.requires_grad_() for z in rows(2))
    score = z_node @ z_graph.t()
    own = torch.nn.functional.one_hot(OWNER, 4).bool()
    slope = torch.where(own, -torch.sigmoid(-score) / 7, torch.sigmoid(score) / (7 * 3)).detach()
    grads = torch.autograd.grad(local_global(z_node, z_graph, OWNER), (z_node, z_graph))
    torch.testing.assert_close(grads, (slope @ z_graph.detach(), slope.t() @ z_node.detach()))


def test_order_does_not_matter():
    z_node, z_graph = rows(3)
    nodes, graphs = torch.randperm(7), torch.randperm(4)
    number = torch.empty(4, dtype=torch.long).scatter_(0, graphs, torch.arange(4))
    shuffled = local_global(z_node[nodes], z_graph[graphs], number[OWNER[nodes]])
    torch.testing.assert_close(shuffled, local_global(z_node, z_graph, OWNER))


def test_one_graph_has_nothing_to_learn_from():
    z_node, z_graph = torch.randn(3, 2, requires_grad=True), torch.randn(1, 2, requires_grad=True)
    loss = local_global(z_node, z_graph, torch.zeros(3, dtype=torch.long))
    assert loss.item() == 0
    assert not torch.autograd.grad(loss, z_node)[0].any()


def test_prior_matching_is_cross_entropy():
    prior, graph = torch.randn(5, 1), torch.randn(8, 1)
    slow = -torch.sigmoid(prior).log().mean() - (1 - torch.sigmoid(graph)).log().mean()
    torch.testing.assert_close(prior_matching(prior, graph), slow)
    assert float(prior_matching(torch.tensor([1000.0]), torch.tensor([-1000.0]))) == 0
