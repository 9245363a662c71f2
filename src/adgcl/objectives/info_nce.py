"""InfoNCE between original and augmented graphs (Eq. 9 of the paper)."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from adgcl.graphs.kernels.compiled import addresses, compiled, compiles, doubles, floats

Directions = Literal["one", "both"]

# Rows shorter than this have no direction; their cosine with anything is 0.
_SHORTEST = 1e-12


def info_nce(z: Tensor, z_view: Tensor, temperature: float = 0.2, directions: Directions = "both") -> Tensor:
    """`-mean_i [ s_ii - log sum_{j != i} exp s_ij ]` with `s_ij = cos(z_i, z_view_j) / temperature`.

    The positive pair is not in the denominator, so the loss can be negative. With `both` directions the mean over
    rows (the original is the anchor) is averaged with that over columns. One graph has no negatives: the loss is 0.
    """
    if len(z) < 2:
        return (z.sum() + z_view.sum()) * 0.0
    if compiles(z, z_view):
        loss: Tensor = _Contrast.apply(z, z_view, temperature, directions == "both")
        return loss
    unit, view_unit = (F.normalize(_wide(rows), dim=1, eps=_SHORTEST) for rows in (z, z_view))
    similarity = unit @ view_unit.t() / temperature
    negatives = similarity.masked_fill(torch.eye(len(z), dtype=torch.bool, device=z.device), -torch.inf)
    against = [negatives.logsumexp(dim).mean() for dim in ((1, 0) if directions == "both" else (1,))]
    return torch.stack(against).mean() - similarity.diagonal().mean()


def _wide(x: Tensor) -> Tensor:
    return x if x.dtype is torch.float64 else x.float()


class Contrast(NamedTuple):
    """What the backward pass needs; the rows of the graphs stand above those of their Views."""

    units: Tensor
    length: Tensor
    likeness: Tensor
    sums: Tensor
    temperature: float
    both: bool


def contrast(rows: Tensor, temperature: float, both: bool) -> tuple[Tensor, Contrast]:
    """The loss of rows `[2 n, D]`, graphs above Views, without autograd.

    The matrix of similarities is small, so it is kept in 64 bits: cosines over any temperature above 0.0015 then have
    exponentials without a shift by the largest, which rows and columns would want differently.
    """
    double, width = rows.shape
    count = double // 2
    units, length = torch.empty(double, width, dtype=torch.float64), torch.empty(double, dtype=torch.float64)
    _normalise_rows(*addresses(rows, units, length), double, width)
    likeness = (units[:count] @ units[count:].t()).div_(temperature).exp_()
    sums, loss = torch.zeros(2, count, dtype=torch.float64), torch.empty(())
    _contrast(*addresses(likeness, sums, loss), count, both)
    return loss, Contrast(units, length, likeness, sums, temperature, both)


def contrast_backward(state: Contrast, grad: float) -> Tensor:
    """The gradient of the rows: that of the similarities is a softmax over negatives minus the identity."""
    units, length, likeness, sums, temperature, both = state
    count = len(likeness)
    slope, of_units = torch.empty_like(likeness), torch.empty_like(units)
    _slopes(*addresses(likeness, sums, slope), count, grad / (count * temperature), both)
    torch.mm(slope, units[count:], out=of_units[:count])
    torch.mm(slope.t(), units[:count], out=of_units[count:])
    grads = torch.empty(units.shape)
    _through_lengths(*addresses(of_units, units, length, grads), *units.shape)
    return grads


class _Contrast(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, z: Tensor, z_view: Tensor, temperature: float, both: bool) -> Tensor:
        loss, ctx.state = contrast(torch.cat((z, z_view)), temperature, both)
        return loss

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, Tensor | None, None, None]:
        return *contrast_backward(ctx.state, float(grad)).chunk(2), None, None


@compiled
def _normalise_rows(z_at: int, units_at: int, length_at: int, count: int, width: int) -> None:
    z, units, length = floats(z_at, (count, width)), doubles(units_at, (count, width)), doubles(length_at, (count,))
    for i in range(count):
        square = 0.0
        for j in range(width):
            value = np.float64(z[i, j])
            square += value * value
        length[i] = max(np.sqrt(square), _SHORTEST)
        for j in range(width):
            units[i, j] = np.float64(z[i, j]) / length[i]


@compiled
def _contrast(likeness_at: int, sums_at: int, loss_at: int, count: int, both: bool) -> None:
    """The loss, and the sums of the negatives of every row and every column; the positives become 0."""
    likeness, sums = doubles(likeness_at, (count, count)), doubles(sums_at, (2, count))
    positive = negative = 0.0
    for i in range(count):
        positive += np.log(likeness[i, i])
        likeness[i, i] = 0.0
        for j in range(count):
            sums[0, i] += likeness[i, j]
        for j in range(count):
            sums[1, j] += likeness[i, j]
    for i in range(count):
        negative += (np.log(sums[0, i]) + np.log(sums[1, i])) / 2 if both else np.log(sums[0, i])
    floats(loss_at, (1,))[0] = (negative - positive) / count


@compiled
def _slopes(likeness_at: int, sums_at: int, slope_at: int, count: int, scale: float, both: bool) -> None:
    """The gradient of the similarities."""
    likeness, slope = doubles(likeness_at, (count, count)), doubles(slope_at, (count, count))
    sums = doubles(sums_at, (2, count))
    for i in range(count):
        by_row = 1 / sums[0, i]
        for j in range(count):
            share = (by_row + 1 / sums[1, j]) / 2 if both else by_row
            slope[i, j] = scale * likeness[i, j] * share
        slope[i, i] = -scale


@compiled
def _through_lengths(grad_at: int, unit_at: int, length_at: int, out_at: int, count: int, width: int) -> None:
    """Through the normalisation: only what is across a row counts."""
    grad, unit = doubles(grad_at, (count, width)), doubles(unit_at, (count, width))
    length, out = doubles(length_at, (count,)), floats(out_at, (count, width))
    for i in range(count):
        along = 0.0
        for j in range(width):
            along += grad[i, j] * unit[i, j]
        for j in range(width):
            out[i, j] = (grad[i, j] - along * unit[i, j]) / length[i]
