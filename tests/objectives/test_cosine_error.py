"""The scaled cosine error against torch's cosine with one-hot rows."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from adgcl.objectives.cosine_error import cosine_error


@pytest.mark.parametrize("gamma", [1.0, 2.0, 3.0])
def test_error_is_the_plain_formula_with_its_gradient(gamma):
    noise = torch.Generator().manual_seed(0)
    z = torch.randn(20, 6, generator=noise, dtype=torch.float64, requires_grad=True)
    code = torch.randint(6, (20,), generator=noise)
    slow = (1 - F.cosine_similarity(z, F.one_hot(code, 6).double(), dim=1)).pow(gamma).mean()
    ours = cosine_error(z, code, gamma)
    torch.testing.assert_close(ours, slow)
    torch.testing.assert_close(*torch.autograd.grad(ours, z), *torch.autograd.grad(slow, z))


@pytest.mark.parametrize("gamma", [1.0, 2.5])
def test_closed_forms(gamma):
    code = torch.tensor([2, 0, 1])
    right = F.one_hot(code, 4).float() * torch.tensor([[1e-3], [1.0], [1e5]])
    assert cosine_error(right, code, gamma).item() == pytest.approx(0, abs=1e-6)
    assert cosine_error(-right, code, gamma).item() == pytest.approx(2**gamma, rel=1e-6)
    # All categories alike: a cosine of one over the root of their number.
    assert cosine_error(torch.ones(3, 4), code, gamma).item() == pytest.approx(0.5**gamma)
    # A row without a direction is as wrong as one at a right angle, and has a gradient.
    nothing = torch.zeros(3, 4, requires_grad=True)
    error = cosine_error(nothing, code, gamma)
    error.backward()
    assert error.item() == 1 and nothing.grad is not None and nothing.grad.isfinite().all()
