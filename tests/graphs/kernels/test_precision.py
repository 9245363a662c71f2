"""bfloat16 without instructions for it: the numbers of torch's autocast."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from adgcl.graphs.kernels import precision


@pytest.fixture
def layer_and_rows():
    torch.manual_seed(0)
    return nn.Linear(40, 24), torch.randn(64, 40, requires_grad=True)


def run(context, layer, rows):
    with context:
        out = layer(rows)
    inputs = (rows, layer.weight, layer.bias)
    return out.float(), *torch.autograd.grad((out.float() * torch.linspace(-1, 1, 24)).sum(), inputs)


def test_rounded_products_are_those_of_autocast(layer_and_rows):
    rounded = run(precision.RoundedProducts(), *layer_and_rows)
    native = run(torch.autocast("cpu", torch.bfloat16), *layer_and_rows)
    wide = run(precision.wide_products(torch.device("cpu")), *layer_and_rows)
    for ours, theirs, exact in zip(rounded, native, wide, strict=True):
        # A sum in another order may fall to the other side of a rounding, one part in 256.
        torch.testing.assert_close(ours, theirs, rtol=1 / 128, atol=1e-3 * float(exact.detach().abs().max()))
        assert not torch.equal(ours, exact)
        assert torch.equal(ours, ours.bfloat16().float())


@pytest.mark.parametrize(("native", "emulated"), [(True, False), (False, True), (False, False)])
def test_the_processor_decides(monkeypatch, native, emulated, layer_and_rows):
    monkeypatch.setattr(precision, "has_half_products", lambda: native)
    monkeypatch.setenv(precision.EMULATE, "1" if emulated else "")
    with precision.half_products(torch.device("cpu")):
        out = layer_and_rows[0](layer_and_rows[1])
    assert out.dtype == (torch.bfloat16 if native else torch.float32)
    assert torch.equal(out.float(), out.bfloat16().float()) == (native or emulated)
