"""Bias and relu in one pass, against torch's own."""

from __future__ import annotations

import pytest
import torch

from adgcl.encoders import relu_loops
from adgcl.encoders.relu_loops import biased_relu, masked
from tests.kernels import compiled_and_torch

kernels = compiled_and_torch(relu_loops, autouse=True)


@pytest.mark.parametrize("rows", [0, 1, 57, 300])
def test_it_is_a_bias_and_a_relu(rows):
    torch.manual_seed(0)
    inputs = torch.randn(rows, 7), torch.randn(7)
    ours, theirs = ([t.clone().requires_grad_() for t in inputs] for _ in range(2))
    out, slow = biased_relu(*ours), (theirs[0] + theirs[1]).relu()
    torch.testing.assert_close(out, slow)
    for one, other in zip(*(torch.autograd.grad(y.square().sum(), x) for y, x in ((out, ours), (slow, theirs)))):
        torch.testing.assert_close(one, other)


def test_masking_works_in_place_and_returns_the_sum_of_rows():
    grad, hidden = torch.randn(300, 5), torch.randn(300, 5).relu()
    expected = torch.where(hidden > 0, grad, 0.0)
    total = masked(grad, hidden, grad)
    torch.testing.assert_close(grad, expected)
    torch.testing.assert_close(total, expected.sum(0))
