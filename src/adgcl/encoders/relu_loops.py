"""Bias and relu in one pass over rows that are still in the cache, and the gradients of both in another.

torch does each in a kernel of its own, which reads and writes every row: next to fast products a tenth of a step.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.overrides import has_torch_function

from adgcl.graphs.kernels.compiled import RUN, addresses, compiled, compiles, floats

_mask = torch.ops.aten.threshold_backward.grad_input


def biased_relu(x: Tensor, bias: Tensor) -> Tensor:
    """`relu(x + bias)`, for rows that were mapped before they were summed."""
    if has_torch_function((x, bias)) or not compiles(x, bias):
        return (x + bias).relu()
    out: Tensor = _BiasedRelu.apply(x, bias)
    return out


class _BiasedRelu(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, bias: Tensor) -> Tensor:
        x = x.contiguous()
        out = torch.empty_like(x)
        add_and_clip(x, bias, out)
        ctx.save_for_backward(out)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor]:
        (out,) = ctx.saved_tensors
        inner = torch.empty_like(out)
        return inner, mask_and_sum(grad.contiguous(), out, inner)


def add_and_clip(x: Tensor, bias: Tensor, out: Tensor) -> None:
    """`out = relu(x + bias)`; `out` may be `x` itself."""
    _add_and_clip(*addresses(x, bias.contiguous(), out), *x.shape)


def masked(grad: Tensor, out: Tensor, inner: Tensor) -> Tensor:
    """`mask_and_sum` with or without compiled loops."""
    return mask_and_sum(grad, out, inner) if compiles(grad) else _mask(grad, out, 0, grad_input=inner).sum(0)


def mask_and_sum(grad: Tensor, out: Tensor, inner: Tensor) -> Tensor:
    """Back through a relu: `inner` is `grad`, or 0 where `out` is; returns its sum. `inner` may be `grad` itself."""
    total = torch.zeros(out.shape[1])
    _mask_and_sum(*addresses(grad, out, inner, total), *out.shape)
    return total


@compiled
def _add_and_clip(x_at: int, bias_at: int, out_at: int, count: int, width: int) -> None:
    x, bias, out = floats(x_at, (count, width)), floats(bias_at, (width,)), floats(out_at, (count, width))
    for i in range(count):
        for j in range(width):
            value = x[i, j] + bias[j]
            # In this order, because NaN compares as false: it has to come out as NaN.
            out[i, j] = np.float32(0) if value < 0 else value


@compiled
def _mask_and_sum(grad_at: int, out_at: int, inner_at: int, total_at: int, count: int, width: int) -> None:
    grad, out, inner = floats(grad_at, (count, width)), floats(out_at, (count, width)), floats(inner_at, (count, width))
    total, part = floats(total_at, (width,)), np.zeros(width, np.float32)
    for start in range(0, count, RUN):
        for i in range(start, min(start + RUN, count)):
            for j in range(width):
                slope = grad[i, j]
                slope = np.float32(0) if out[i, j] <= 0 else slope
                inner[i, j] = slope
                part[j] += slope
        for j in range(width):
            total[j] += part[j]
            part[j] = 0
