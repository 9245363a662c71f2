"""Dense products of wide layers, in the way that is fastest on this machine.

In 32 bits torch multiplies with MKL, which on AMD processors is slower than the OpenBLAS that NumPy brings along: by up
to a tenth at GINE's shapes, where products are most of a step (`python -m benchmarks.limits` measures some). In 16 bits
it compiles a product for every number of rows: rows of zeros up to a round number leave few to compile. Their results
become 32-bit numbers at once, because our own loops for what follows are faster than torch's for 16 bits; fine-tuning
takes a fifth less time with both. The choice depends only on the machine, never on a measurement, so the same run gives
the same numbers.
"""

from __future__ import annotations

from contextlib import nullcontext
from functools import cache
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.autograd.profiler import record_function
from torch.nn import functional as F
from torch.overrides import has_torch_function

from adgcl.core.provenance import machine
from adgcl.graphs.kernels.precision import has_half_products

# The profiler's name for a product that torch does not see.
PRODUCT = "adgcl::product"
# 16-bit products have a multiple of this number of rows.
_ROUND = 64


class Dense(nn.Linear):
    """`nn.Linear` for many rows."""

    def forward(self, x: Tensor) -> Tensor:
        return linear(x, self.weight, self.bias)


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`x weight^T + bias`, like `F.linear`."""
    # Code that intercepts torch's functions, such as the emulation of bfloat16, must see this one too.
    if has_torch_function((x, weight)):
        return F.linear(x, weight, bias)
    out: Tensor
    if _halved(x):
        out = _HalfProduct.apply(x, weight, bias)
        return out
    if not (_left_to_numpy() and _plain(x, weight)):
        return F.linear(x, weight, bias)
    out = _Product.apply(x, weight)
    return out if bias is None else out + bias


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor) -> Tensor:
        ctx.save_for_backward(x, weight)
        return _product(x, weight.t())

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, Tensor | None]:
        x, weight = ctx.saved_tensors
        of_x = _product(grad, weight) if ctx.needs_input_grad[0] else None
        of_weight = _product(grad.t(), x) if ctx.needs_input_grad[1] else None
        return of_x, of_weight


class _HalfProduct(torch.autograd.Function):
    """`F.linear` as torch's autocast computes it, with a 32-bit result."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        half, half_weight = _in_round_rows(x), weight.bfloat16()
        ctx.save_for_backward(half, half_weight)
        ctx.dtypes = x.dtype, weight.dtype, None if bias is None else bias.dtype
        return F.linear(half, half_weight, None if bias is None else bias.bfloat16())[: len(x)].float()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        x, weight = ctx.saved_tensors
        of_x, of_weight, of_bias = ctx.dtypes
        half = _in_round_rows(grad)
        return (
            (half @ weight)[: len(grad)].to(of_x) if ctx.needs_input_grad[0] else None,
            (half.t() @ x).to(of_weight) if ctx.needs_input_grad[1] else None,
            grad.sum(0).to(of_bias) if ctx.needs_input_grad[2] else None,
        )


def _in_round_rows(x: Tensor) -> Tensor:
    """`x` in 16 bits, with rows of zeros up to a round number."""
    rows = -(-len(x) // _ROUND) * _ROUND
    half = x.new_empty((rows, x.shape[1]), dtype=torch.bfloat16)
    half[: len(x)] = x
    half[len(x) :] = 0
    return half


def _product(a: Tensor, b: Tensor) -> Tensor:
    with record_function(PRODUCT) if torch.autograd._profiler_enabled() else nullcontext():
        out = torch.empty(len(a), b.shape[1])
        np.matmul(a.detach().numpy(), b.detach().numpy(), out=out.numpy())
        return out


@cache
def _left_to_numpy() -> bool:
    return torch.backends.mkl.is_available() and "AMD" in str(machine()["processor"])


def _halved(x: Tensor) -> bool:
    """Whether torch would round this product's factors to 16 bits, on a processor that multiplies these."""
    cpu = x.device.type == "cpu" and torch.is_autocast_enabled("cpu")
    return cpu and x.dim() == 2 and torch.get_autocast_dtype("cpu") is torch.bfloat16 and has_half_products()


def _plain(x: Tensor, weight: Tensor) -> bool:
    """Whether these are 32-bit numbers in main memory, on one thread: OpenBLAS's threads get in the way of torch's."""
    kinds = x.dtype is weight.dtype is torch.float32 and x.device.type == weight.device.type == "cpu"
    return kinds and not torch.is_autocast_enabled("cpu") and torch.get_num_threads() == 1
