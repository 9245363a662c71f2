"""Batch normalisation by the rows of all processes together: each adds up its own, and the sums are exchanged.

A pass costs one exchange of two numbers per column, forward and backward, however many rows there are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from adgcl.graphs.kernels.compiled import RUN, addresses, compiled, compiles, doubles, floats
from adgcl.parallel.collectives import summed

if TYPE_CHECKING:
    from adgcl.encoders.norm import NodeNorm


class Moments(NamedTuple):
    """Over the rows of all processes: how many there are, by weight, and the mean and variance of every column."""

    total: Tensor
    mean: Tensor
    var: Tensor
    inverse: Tensor


def shared_norm(norm: NodeNorm, x: Tensor, keeps: tuple[Tensor | None, ...], relu: bool, fewest: float) -> Tensor:
    """Each copy of the batch by statistics of its own, or by the running ones where it has fewer than `fewest` rows."""
    dtype = norm.weight.dtype
    parts = [part.to(dtype).contiguous() for part in x.chunk(len(keeps))]
    weights = [None if keep is None else keep.to(dtype).contiguous() for keep in keeps]
    sums = summed(torch.stack([_sums(part.detach(), weight) for part, weight in zip(parts, weights, strict=True)]))
    outs = []
    for part, weight, row in zip(parts, weights, sums, strict=True):
        # Reading a number from a GPU waits for all its work; who has enough rows need not ask.
        if (weight is not None or len(part) < fewest) and float(row[0]) < fewest:
            out = norm.by_running(part)
            outs.append(out.relu() if relu else out)
            continue
        moments = _moments(row[0], row[1:], norm.eps, dtype)
        outs.append(_SharedNorm.apply(part, weight, norm.weight, norm.bias, moments, relu))
        norm.see(moments.mean, (moments.var * (row[0] / (row[0] - 1))).to(dtype))
    return (outs[0] if len(outs) == 1 else torch.cat(outs)).to(x.dtype)


def _sums(x: Tensor, weight: Tensor | None) -> Tensor:
    """The weights of all rows, the weighted rows and their squares added up, in 64 bits: `[1 + 2 D]`."""
    if compiles(x, weight):
        sums = torch.zeros(1 + 2 * x.shape[1], dtype=torch.float64)
        _add_up(*addresses(x, weight, sums), *x.shape)
        return sums
    share = torch.ones(len(x), dtype=torch.float64, device=x.device) if weight is None else weight.detach().double()
    wide = x.double()
    return torch.cat((share.sum().reshape(1), share @ wide, share @ wide.square()))


def _moments(total: Tensor, sums: Tensor, eps: float, dtype: torch.dtype) -> Moments:
    # In 64 bits no digits are lost that 32 bits could hold, even where the mean is large.
    mean, square = (sums / total).chunk(2)
    var = (square - mean.square()).clamp(min=0.0)
    return Moments(total, mean.to(dtype), var.to(dtype), (var + eps).rsqrt().to(dtype))


class _SharedNorm(torch.autograd.Function):
    """`y = (x - mean) / sqrt(var + eps) * gamma + beta`, then a relu if requested."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, weight: Tensor | None, gamma: Tensor, beta: Tensor, moments: Moments, relu: bool
    ) -> Tensor:
        ctx.fast = compiles(x, weight) and not ctx.needs_input_grad[1]
        if ctx.fast:
            out = torch.empty_like(x)
            _apply(*addresses(x, out, gamma, beta, moments.mean, moments.inverse), *x.shape, relu)
        else:
            out = torch.addcmul(beta, (x - moments.mean).mul_(moments.inverse), gamma)
            out = out.relu_() if relu else out
        ctx.moments = moments
        ctx.save_for_backward(x, weight, gamma, out if relu else None)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        x, weight, gamma, out = ctx.saved_tensors
        backward = _fast_backward if ctx.fast else _plain_backward
        return *backward(grad.contiguous(), x, weight, gamma, out, ctx.moments), None, None


Gradients = tuple[Tensor, Tensor | None, Tensor, Tensor]


def _fast_backward(
    grad: Tensor, x: Tensor, weight: Tensor | None, gamma: Tensor, out: Tensor | None, moments: Moments
) -> Gradients:
    inner, sums = torch.empty_like(x), torch.zeros(2, x.shape[1], dtype=torch.float64)
    _add_up_slopes(*addresses(grad, out, x, inner, moments.mean, moments.inverse, sums), *x.shape)
    means = (summed(sums) / moments.total).to(x.dtype)
    _pull(*addresses(inner, x, weight, gamma, moments.mean, moments.inverse, means), *x.shape)
    of_beta, of_gamma = sums.to(x.dtype)
    return inner, None, of_gamma, of_beta


def _plain_backward(
    grad: Tensor, x: Tensor, weight: Tensor | None, gamma: Tensor, out: Tensor | None, moments: Moments
) -> Gradients:
    grad = grad if out is None else grad * (out > 0)
    unit = (x - moments.mean) * moments.inverse
    sums = torch.stack((grad.sum(0), (grad * unit).sum(0)))
    # How the loss of all processes moves with the mean and with the variance, in units of the standard deviation.
    by_mean, by_var = gamma * (summed(sums) / moments.total).to(gamma.dtype)
    pulled = torch.addcmul(by_mean, unit, by_var)
    pulled = pulled if weight is None else pulled * weight.unsqueeze(1)
    of_x = (grad * gamma - pulled) * moments.inverse
    of_weight = None
    if weight is not None:
        # The weighted mean of `unit` over all rows is 0, that of its square `var / (var + eps)`.
        on_average = (by_var * moments.var * moments.inverse.square()).sum() / 2
        of_weight = on_average - unit @ by_mean - unit.square() @ by_var / 2
    return of_x, of_weight, sums[1], sums[0]


@compiled
def _add_up(x_at: int, weights_at: int, sums_at: int, count: int, width: int) -> None:
    """In blocks of 32-bit sums, around the mean, where they lose no digits."""
    x, weights, sums = floats(x_at, (count, width)), floats(weights_at, (count,)), doubles(sums_at, (1 + 2 * width,))
    rows, squares = sums[1 : 1 + width], sums[1 + width :]
    part, centre = np.zeros(width, np.float32), np.zeros(width, np.float32)
    for i in range(count):
        sums[0] += weights[i] if weights_at else np.float32(1)
    for start in range(0, count, RUN):
        for i in range(start, min(start + RUN, count)):
            weight = weights[i] if weights_at else np.float32(1)
            for j in range(width):
                part[j] += weight * x[i, j]
        for j in range(width):
            rows[j] += part[j]
            part[j] = 0
    for j in range(width):
        centre[j] = rows[j] / max(sums[0], 1.0)
    for start in range(0, count, RUN):
        for i in range(start, min(start + RUN, count)):
            weight = weights[i] if weights_at else np.float32(1)
            for j in range(width):
                away = x[i, j] - centre[j]
                part[j] += weight * away * away
        for j in range(width):
            squares[j] += part[j]
            part[j] = 0
    for j in range(width):
        shift = np.float64(centre[j])
        squares[j] += shift * (2 * rows[j] - sums[0] * shift)


@compiled
def _apply(
    x_at: int, out_at: int, gamma_at: int, beta_at: int, mean_at: int, inverse_at: int, count: int, width: int,
    relu: bool,
) -> None:  # fmt: skip
    x, out = floats(x_at, (count, width)), floats(out_at, (count, width))
    gamma, beta = floats(gamma_at, (width,)), floats(beta_at, (width,))
    mean, inverse = floats(mean_at, (width,)), floats(inverse_at, (width,))
    scale = gamma * inverse
    least = np.float32(0) if relu else np.float32(-np.inf)
    for i in range(count):
        for j in range(width):
            value = (x[i, j] - mean[j]) * scale[j] + beta[j]
            # In this order, because NaN compares as false: it has to come out as NaN.
            out[i, j] = least if value < least else value


@compiled
def _add_up_slopes(
    grad_at: int, out_at: int, x_at: int, inner_at: int, mean_at: int, inverse_at: int, sums_at: int, count: int,
    width: int,
) -> None:  # fmt: skip
    """The gradient behind the relu, and its sums: as it is, and times the normalised rows."""
    grad, x, inner = floats(grad_at, (count, width)), floats(x_at, (count, width)), floats(inner_at, (count, width))
    out, mean = floats(out_at if out_at else grad_at, (count, width)), floats(mean_at, (width,))
    inverse, sums = floats(inverse_at, (width,)), doubles(sums_at, (2, width))
    parts = np.zeros((2, width), np.float32)
    for start in range(0, count, RUN):
        for i in range(start, min(start + RUN, count)):
            for j in range(width):
                inner[i, j] = np.float32(0) if out_at and out[i, j] <= 0 else grad[i, j]
            for j in range(width):
                parts[0, j] += inner[i, j]
                parts[1, j] += inner[i, j] * (x[i, j] - mean[j])
        for j in range(width):
            sums[0, j] += parts[0, j]
            sums[1, j] += parts[1, j] * np.float64(inverse[j])
            parts[0, j] = parts[1, j] = 0


@compiled
def _pull(
    inner_at: int, x_at: int, weights_at: int, gamma_at: int, mean_at: int, inverse_at: int, means_at: int, count: int,
    width: int,
) -> None:  # fmt: skip
    """Take from every row what the mean and the variance contribute, in place."""
    inner, x, weights = floats(inner_at, (count, width)), floats(x_at, (count, width)), floats(weights_at, (count,))
    gamma, mean, inverse = floats(gamma_at, (width,)), floats(mean_at, (width,)), floats(inverse_at, (width,))
    means = floats(means_at, (2, width))
    scale, by_unit = gamma * inverse, means[1] * inverse
    for i in range(count):
        weight = weights[i] if weights_at else np.float32(1)
        for j in range(width):
            pulled = weight * (means[0, j] + by_unit[j] * (x[i, j] - mean[j]))
            inner[i, j] = (inner[i, j] - pulled) * scale[j]
