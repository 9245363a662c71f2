"""bfloat16 without instructions for it: the numbers of torch's autocast."""

from __future__ import annotations

import os
import subprocess
import sys

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


_MANY_SHAPES = """
import ctypes
import torch
from adgcl.graphs.kernels.precision import half_products

class Heap(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in "a b c d mapped e f used g h".split()]

libc = ctypes.CDLL("libc.so.6")
libc.mallinfo2.restype = Heap
layer, before = torch.nn.Linear(300, 600), 0
with torch.no_grad(), half_products(torch.device("cpu")):
    for rows in range(1000, 1400):
        layer(torch.ones(rows, 300))
        if rows == 1099:
            before = libc.mallinfo2().used
print((libc.mallinfo2().used - before) / 2**20)
"""


@pytest.mark.skipif(not precision.has_half_products(), reason="this processor has no bfloat16 products")
def test_products_of_many_shapes_do_not_fill_the_memory():
    """Torch keeps each compiled product, and there is one for each number of rows unless its caches are limited."""
    clean = {name: value for name, value in os.environ.items() if name not in precision._COMPILED_PRODUCTS}
    done = subprocess.run([sys.executable, "-c", _MANY_SHAPES], env=clean, capture_output=True, text=True, check=True)
    assert float(done.stdout) < 10  # megabytes for 300 further shapes
