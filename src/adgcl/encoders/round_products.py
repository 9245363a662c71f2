"""Dense maps by oneDNN, the library in which torch multiplies 16-bit numbers, here for 32-bit numbers as well.

It compiles a product for every number of rows that it meets. Rows of zeros up to a round number leave few to compile,
and what a relu has made of them is set to 0 again, so that they count for nothing in the backward pass. Where there is
much to multiply, compiling takes less time than copying, and rows stay where they are.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.autograd.profiler import record_function
from torch.nn import functional as F

from adgcl.encoders.relu_loops import add_and_clip, masked

# The profiler's name for a product that torch does not name itself.
PRODUCT = "adgcl::product"
# Numbers of rows are a multiple of this number, and those above 2,048 of a sixteenth to a thirty-second of themselves.
_ROUND = 64
# From so many numbers on they are not copied: then a product is compiled in less time (both take about a millisecond).
_MANY = 1 << 20


class RoundLinear(torch.autograd.Function):
    """`x weight^T + bias`, with a relu if requested: computed in `dtype`, returned in 32 bits."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None, relu: bool, dtype: torch.dtype
    ) -> Tensor:  # fmt: skip
        rounded, weight = in_round_rows(x, dtype), weight.to(dtype)
        out = _mapped(rounded, weight, bias, relu, len(x))
        ctx.save_for_backward(rounded, weight, out if relu else None)
        ctx.dtype = x.dtype
        return out[: len(x)].float()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        x, weight, out = ctx.saved_tensors
        of_bias = ctx.needs_input_grad[2]
        if out is None:
            inner, total = in_rows(grad, len(x), weight.dtype), grad.float().sum(0) if of_bias else None
        else:
            inner, total = _through_relu(in_rows(grad, len(x), weight.dtype), out, kept=grad)
        return *_of_factors(ctx, inner, x, weight, len(grad)), total if of_bias else None, None, None


class RoundMLP(torch.autograd.Function):
    """`last(relu(first(x)))`, whose hidden rows stay as oneDNN made them."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None, last_weight: Tensor, last_bias: Tensor | None,
        dtype: torch.dtype,
    ) -> Tensor:  # fmt: skip
        rounded, weight, last_weight = in_round_rows(x, dtype), weight.to(dtype), last_weight.to(dtype)
        hidden = _mapped(rounded, weight, bias, True, len(x))
        ctx.save_for_backward(rounded, hidden, weight, last_weight)
        ctx.dtype = x.dtype
        return _mapped(hidden, last_weight, last_bias, False, len(x))[: len(x)].float()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        x, hidden, weight, last_weight = ctx.saved_tensors
        of_x, of_weight, of_bias, of_last_weight, of_last_bias, _ = ctx.needs_input_grad
        outer = in_rows(grad, len(x), weight.dtype)
        of_last = _multiplied(outer.t(), hidden.t()).float() if of_last_weight else None
        of_last_sum = grad.float().sum(0) if of_last_bias else None
        if not (of_x or of_weight or of_bias):
            return None, None, None, of_last, of_last_sum, None
        inner, total = _through_relu(_multiplied(outer, last_weight.t()), hidden)
        first = _of_factors(ctx, inner, x, weight, len(grad))
        return *first, total if of_bias else None, of_last, of_last_sum, None


def _of_factors(ctx: Any, inner: Tensor, x: Tensor, weight: Tensor, rows: int) -> tuple[Tensor | None, Tensor | None]:
    """The gradients of the first two inputs, `x` and `weight`, from that of their product."""
    of_x, of_weight, *_ = ctx.needs_input_grad
    return (
        _multiplied(inner, weight.t())[:rows].to(ctx.dtype) if of_x else None,
        _multiplied(inner.t(), x.t()).float() if of_weight else None,
    )


def in_round_rows(x: Tensor, dtype: torch.dtype) -> Tensor:
    """`x` as `dtype`, with rows of zeros up to a round number; `x` itself if it is large and needs no conversion."""
    if x.dtype is dtype and x.numel() >= _MANY:
        return x.contiguous()
    step = max(_ROUND, 1 << max(len(x).bit_length() - 5, 0))
    return in_rows(x, -(-max(len(x), 1) // step) * step, dtype)


def in_rows(x: Tensor, rows: int, dtype: torch.dtype) -> Tensor:
    """`x` as `dtype` in so many rows, the last of them zeros; `x` itself if it is like that.

    A gradient takes the rows of what it is multiplied with: by its own size or dtype it might be rounded otherwise.
    """
    if len(x) == rows:
        return x.to(dtype).contiguous()
    filled = x.new_empty((rows, x.shape[1]), dtype=dtype)
    filled[: len(x)] = x
    filled[len(x) :] = 0
    return filled


def available() -> bool:
    """Whether this build of torch has oneDNN."""
    return torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_linear_pointwise")


def _mapped(x: Tensor, weight: Tensor, bias: Tensor | None, relu: bool, rows: int) -> Tensor:
    cast = None if bias is None else bias.to(weight.dtype)
    if not relu:
        return _multiplied(x, weight, cast)
    # oneDNN's own relu would turn NaN, which reveals failures, into 0.
    if cast is None or x.dtype is not torch.float32:
        out = _multiplied(x, weight, cast).relu_()
    else:
        out = _multiplied(x, weight)
        add_and_clip(out, cast, out)
    out[rows:] = 0
    return out


def _multiplied(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`x weight^T + bias`; either factor may be a transposed one."""
    if x.dtype is not torch.float32:
        return F.linear(x, weight, bias)
    with record_function(PRODUCT) if torch.autograd._profiler_enabled() else nullcontext():
        out: Tensor = torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")
    return out


def _through_relu(grad: Tensor, out: Tensor, kept: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Back through a relu whose result was `out`: the gradient, in place unless `kept` is there, and its sum."""
    if grad.dtype is torch.float32:
        inner = torch.empty_like(grad) if grad is kept else grad
        return inner, masked(grad, out, inner)
    inner = torch.ops.aten.threshold_backward(grad, out, 0)
    return inner, inner.sum(0, dtype=torch.float32)
