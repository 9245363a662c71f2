"""The loss of pairs against its formula, term by term."""

from __future__ import annotations

import math

import pytest
import torch

from adgcl.objectives.pair_scores import inner_products, pair_loss


def sigmoid(s):
    return 1 / (1 + math.exp(-s))


@pytest.mark.parametrize("weight", [1.0, 3.0])
def test_loss_is_the_plain_formula(weight):
    positive, negative = torch.randn(2, 9, generator=torch.Generator().manual_seed(0)) * 3
    negative = negative[:5]
    right = -sum(math.log(sigmoid(s)) for s in positive.tolist()) / 9
    wrong = -sum(math.log(1 - sigmoid(s)) for s in negative.tolist()) / 5
    assert pair_loss(positive, negative, weight).item() == pytest.approx(right + weight * wrong, rel=1e-5)


def test_closed_forms():
    zero, empty = torch.zeros(4), torch.zeros(0)
    assert pair_loss(zero, zero, 2.0).item() == pytest.approx(3 * math.log(2))
    assert pair_loss(zero, empty).item() == pytest.approx(math.log(2))
    assert pair_loss(empty, empty).item() == 0
    # Scores too large for an exponential.
    assert pair_loss(torch.tensor([-500.0]), torch.tensor([300.0])).item() == pytest.approx(800)


def test_inner_products_go_row_by_row():
    z, other = torch.randn(2, 6, 4, generator=torch.Generator().manual_seed(1))
    expected = [sum(a * b for a, b in zip(x, y)) for x, y in zip(z.tolist(), other.tolist())]
    torch.testing.assert_close(inner_products(z, other), torch.tensor(expected))
