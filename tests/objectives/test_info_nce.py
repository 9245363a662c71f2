"""InfoNCE against Eq. 9 written out, closed forms and its symmetries."""

from __future__ import annotations

import math

import pytest
import torch

from adgcl.objectives import info_nce as module
from adgcl.objectives.info_nce import info_nce
from tests.kernels import compiled_and_torch

kernels = compiled_and_torch(module, autouse=True)


def equation_9(z: torch.Tensor, z_view: torch.Tensor, temperature: float) -> float:
    """`-1/m sum_i log( exp(sim(z_i, v_i)) / sum_{j != i} exp(sim(z_i, v_j)) )`, term by term."""
    total = 0.0
    for i in range(len(z)):
        sims = [
            math.exp(float(torch.dot(z[i], z_view[j]) / (z[i].norm() * z_view[j].norm())) / temperature)
            for j in range(len(z))
        ]
        total -= math.log(sims[i] / sum(s for j, s in enumerate(sims) if j != i))
    return total / len(z)


@pytest.mark.parametrize("temperature", [1.0, 0.2, 0.005])
def test_equals_the_equation(temperature):
    z, view = torch.randn(7, 5), torch.randn(7, 5)
    assert float(info_nce(z, view, temperature, "one")) == pytest.approx(equation_9(z, view, temperature), rel=1e-5)
    both = (equation_9(z, view, temperature) + equation_9(view, z, temperature)) / 2
    assert float(info_nce(z, view, temperature, "both")) == pytest.approx(both, rel=1e-5)


@pytest.mark.parametrize("directions", ["one", "both"])
def test_gradient_equals_automatic_differentiation(directions):
    z, view = (torch.randn(6, 4, requires_grad=True) for _ in range(2))
    similarity = torch.nn.functional.normalize(z) @ torch.nn.functional.normalize(view).t() / 0.3
    off = torch.ones(6, 6) - torch.eye(6)
    rows = -torch.log(similarity.exp().diagonal() / (similarity.exp() * off).sum(1)).mean()
    columns = -torch.log(similarity.exp().diagonal() / (similarity.exp() * off).sum(0)).mean()
    slow = rows if directions == "one" else (rows + columns) / 2
    fast = info_nce(z, view, 0.3, directions)
    torch.testing.assert_close(fast, slow)
    torch.testing.assert_close(torch.autograd.grad(fast, (z, view)), torch.autograd.grad(slow, (z, view)))


def test_closed_form_for_orthogonal_graphs():
    """Perfect matches and orthogonal negatives: -1/t + log(m - 1)."""
    z = torch.eye(6)
    assert float(info_nce(z, z, 0.5)) == pytest.approx(-1 / 0.5 + math.log(5), rel=1e-6)


def test_scale_and_order_do_not_matter():
    z, view = torch.randn(9, 4), torch.randn(9, 4)
    order = torch.randperm(9)
    expected = info_nce(z, view)
    torch.testing.assert_close(info_nce(z * 7, view * 0.1), expected)
    torch.testing.assert_close(info_nce(z[order], view[order]), expected)


def test_every_batch_size_is_defined():
    one = torch.randn(1, 4, requires_grad=True)
    loss = info_nce(one, one * 2)
    assert loss.item() == 0.0
    loss.backward()
    assert torch.equal(one.grad, torch.zeros_like(one))
    two = info_nce(torch.randn(2, 4), torch.randn(2, 4))
    assert torch.isfinite(two)


def test_zero_rows_and_huge_rows_stay_finite():
    z = torch.randn(4, 3)
    z[0] = 0.0
    z[1] *= 1e18
    z.requires_grad_()
    loss = info_nce(z, z.detach().flip(0), temperature=0.01)
    loss.backward()
    assert torch.isfinite(loss)
    assert torch.isfinite(z.grad).all()


@pytest.mark.parametrize("loops", [True, False])
@pytest.mark.parametrize("directions", ["one", "both"])
def test_similarities_are_not_rounded_to_16_bits(directions, loops, monkeypatch):
    torch.manual_seed(0)
    z, z_view = (torch.randn(12, 5).bfloat16() for _ in range(2))
    exact = float(info_nce(z.double(), z_view.double(), 0.2, directions))
    if not loops:
        monkeypatch.setattr(module, "compiles", lambda *rows: False)
    with torch.autocast("cpu", torch.bfloat16):
        loss = info_nce(z, z_view, 0.2, directions)
    assert loss.dtype is torch.float32 and float(loss) == pytest.approx(exact, abs=1e-5)
