"""Normalisation with shared statistics: alone it is ordinary normalisation, compiled or not."""

from __future__ import annotations

import pytest
import torch

from adgcl.encoders import norm as module
from adgcl.encoders import shared_norm
from adgcl.encoders.norm import NodeNorm


@pytest.fixture
def alone(monkeypatch):
    """A world of one in which statistics are exchanged nevertheless."""
    monkeypatch.setattr(shared_norm, "summed", lambda value: value.clone())


def made(width=5):
    torch.manual_seed(0)
    norm = NodeNorm(width)
    torch.nn.init.normal_(norm.weight)
    torch.nn.init.normal_(norm.bias)
    return norm


def outcome(norm, x, keeps, relu):
    x = x.clone().requires_grad_()
    kept = tuple(None if keep is None else keep.detach().clone().requires_grad_(keep.requires_grad) for keep in keeps)
    out = norm(x, len(keeps), kept, relu)
    out.square().mul(torch.arange(out.numel()).view_as(out) % 7 - 3.0).sum().backward()
    grads = [x.grad, norm.weight.grad, norm.bias.grad, *(k.grad for k in kept if k is not None and k.requires_grad)]
    return [out.detach(), *grads, norm.running_mean, norm.running_var]


KEEPS = {
    "equal rows": (None,),
    "two copies": (None, None),
    "classes": ("counts",),
    "learned": ("learned",),
    "one learned": (None, "learned"),
    "a single row": ("single",),
    "hardly any": ("nothing",),
}


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("kind", KEEPS)
def test_alone_it_is_ordinary_normalisation(alone, monkeypatch, kind, plain, relu):
    generator = torch.Generator().manual_seed(1)
    rows = 1 if kind == "single" else 300
    x = torch.randn(rows * len(KEEPS[kind]), 5, generator=generator) * torch.tensor([1.0, 10.0, 0.2, 3.0, 0.5]) + 4.0
    weights = {
        None: None,
        "counts": torch.randint(1, 6, (rows,), generator=generator).float(),
        "learned": torch.rand(rows, generator=generator).requires_grad_(),
        "single": torch.full((rows,), 3.0),
        "nothing": torch.full((rows,), 1e-3),
    }
    keeps = tuple(weights[keep] for keep in KEEPS[kind])
    wanted = outcome(made(), x, keeps, relu)
    monkeypatch.setattr(module, "shares_statistics", lambda: True)
    if plain:
        monkeypatch.setattr(shared_norm, "compiles", lambda *tensors: False)
    for got, expected in zip(outcome(made(), x, keeps, relu), wanted, strict=True):
        torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-4 * float(expected.abs().max()))


def test_large_means_cost_no_digits(alone, monkeypatch):
    """The variance of numbers far from 0: 32-bit sums of squares would be all rounding."""
    x = torch.randn(1000, 3, generator=torch.Generator().manual_seed(2)) + 1000.0
    monkeypatch.setattr(module, "shares_statistics", lambda: True)
    out = NodeNorm(3)(x)
    wanted = torch.nn.functional.batch_norm(x.double(), None, None, training=True).float()
    torch.testing.assert_close(out, wanted, rtol=1e-3, atol=1e-3)


def test_in_evaluation_nothing_is_shared(monkeypatch):
    monkeypatch.setattr(module, "shares_statistics", lambda: True)
    monkeypatch.setattr(shared_norm, "summed", None)
    norm = made().eval()
    torch.testing.assert_close(norm(torch.ones(2, 5)), torch.nn.BatchNorm1d.forward(norm, torch.ones(2, 5)))
