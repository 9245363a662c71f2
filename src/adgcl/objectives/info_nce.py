"""InfoNCE between original and augmented graphs (Eq. 9 of the paper)."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from adgcl.graphs.kernels.compiled import addresses, compiled, compiles, doubles, floats
from adgcl.graphs.kernels.precision import wide_products
from adgcl.parallel.collectives import part_of_mean, shares_negatives, with_negatives

Directions = Literal["one", "both"]

# Rows shorter than this have no direction; their cosine with anything is 0.
_SHORTEST = 1e-12


def info_nce(z: Tensor, z_view: Tensor, temperature: float = 0.2, directions: Directions = "both") -> Tensor:
    """`-mean_i [ s_ii - log sum_{j != i} exp s_ij ]` with `s_ij = cos(z_i, z_view_j) / temperature`.

    The positive pair is not in the denominator, so the loss can be negative. With `both` directions the mean over
    rows (the original is the anchor) is averaged with that over columns. One graph has no negatives: the loss is 0.
    Similarities are never computed in 16 bits: divided by the temperature, their rounding would be felt.
    """
    with wide_products(z.device):
        return _info_nce(_wide(z), _wide(z_view), temperature, directions)


def _info_nce(z: Tensor, z_view: Tensor, temperature: float, directions: Directions) -> Tensor:
    if shares_negatives():
        return _across_processes(z, z_view, temperature, directions)
    if len(z) < 2:
        return (z.sum() + z_view.sum()) * 0.0
    if compiles(z, z_view):
        loss: Tensor = _Contrast.apply(z, z_view, temperature, directions == "both")
        return loss
    unit, view_unit = _units(z), _units(z_view)
    similarity = unit @ view_unit.t() / temperature
    negatives = similarity.masked_fill(torch.eye(len(z), dtype=torch.bool, device=z.device), -torch.inf)
    against = [negatives.logsumexp(dim).mean() for dim in ((1, 0) if directions == "both" else (1,))]
    return torch.stack(against).mean() - similarity.diagonal().mean()


def _wide(rows: Tensor) -> Tensor:
    """In 32 bits, or in 64 if they are so already."""
    return rows if rows.dtype is torch.float64 else rows.float()


def _units(rows: Tensor) -> Tensor:
    return F.normalize(rows, dim=1, eps=_SHORTEST)


def _across_processes(z: Tensor, z_view: Tensor, temperature: float, directions: Directions) -> Tensor:
    """This process's part of the loss: its own graphs are the anchors, the negatives are those of all processes."""
    unit, view_unit = _units(z), _units(z_view)
    # What is compared with: the Views of all graphs, and for their Views all graphs.
    anchors, others = ([unit, view_unit], [view_unit, unit]) if directions == "both" else ([unit], [view_unit])
    everywhere, first = with_negatives(torch.cat(others, dim=1))
    if len(everywhere) < 2:
        return (z.sum() + z_view.sum()) * 0.0
    own = torch.eye(len(z), len(everywhere), dtype=torch.bool, device=z.device).roll(first, 1)
    against = [
        (anchor @ rows.t() / temperature).masked_fill(own, -torch.inf).logsumexp(1).mean()
        for anchor, rows in zip(anchors, everywhere.chunk(len(others), dim=1), strict=True)
    ]
    positive = (unit * view_unit).sum(1).mean() / temperature
    return part_of_mean(torch.stack(against).mean() - positive, len(z))


class Contrast(NamedTuple):
    """What the backward pass needs; the graphs' rows come first, then those of their Views."""

    units: Tensor
    length: Tensor
    likeness: Tensor
    sums: Tensor
    temperature: float
    both: bool


def contrast(rows: Tensor, temperature: float, both: bool) -> tuple[Tensor, Contrast]:
    """The loss of rows `[2 n, D]`, graphs first, then Views, without autograd.

    The matrix of similarities is small, so it is kept in 64 bits: for any temperature above 0.0015 the exponentials
    then need no shift by the largest value, which would differ between rows and columns.
    """
    double, width = rows.shape
    count = double // 2
    kept = torch.empty(double * (width + 2) + count * count, dtype=torch.float64)
    units, length, sums, likeness = kept.split((double * width, double, double, count * count))
    loss = torch.empty(())
    _contrast(*addresses(rows, units, length, likeness, sums, loss), count, width, temperature, both)
    return loss, Contrast(units.view(double, width), length, likeness.view(count, count), sums, temperature, both)


def contrast_backward(state: Contrast, grad: float) -> Tensor:
    """The gradient of the rows: that of the similarities is a softmax over negatives minus the identity."""
    units, length, likeness, sums, temperature, both = state
    grads = torch.empty(units.shape)
    count, width = len(likeness), units.shape[1]
    scale = grad / (count * temperature)
    _contrast_backward(*addresses(units, length, likeness, sums, grads), count, width, scale, both)
    return grads


class _Contrast(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, z: Tensor, z_view: Tensor, temperature: float, both: bool) -> Tensor:
        loss, ctx.state = contrast(torch.cat((z, z_view)), temperature, both)
        return loss

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, Tensor | None, None, None]:
        grad_z, grad_view = contrast_backward(ctx.state, float(grad)).chunk(2)
        return grad_z, grad_view, None, None


@compiled
def _contrast(
    z_at: int, units_at: int, length_at: int, likeness_at: int, sums_at: int, loss_at: int, count: int, width: int,
    temperature: float, both: bool,
) -> None:  # fmt: skip
    """The loss; the sums of the negatives of every row and every column; similarities, whose positives become 0."""
    z, units = floats(z_at, (2 * count, width)), doubles(units_at, (2 * count, width))
    length, likeness = doubles(length_at, (2 * count,)), doubles(likeness_at, (count, count))
    sums = doubles(sums_at, (2, count))
    for i in range(2 * count):
        square = 0.0
        for j in range(width):
            value = np.float64(z[i, j])
            square += value * value
        length[i] = max(np.sqrt(square), _SHORTEST)
        for j in range(width):
            units[i, j] = np.float64(z[i, j]) / length[i]
    positive = negative = 0.0
    for i in range(count):
        sums[0, i] = sums[1, i] = 0.0
    for i in range(count):
        for k in range(count):
            cosine = 0.0
            for j in range(width):
                cosine += units[i, j] * units[count + k, j]
            likeness[i, k] = np.exp(cosine / temperature)
        positive += np.log(likeness[i, i])
        likeness[i, i] = 0.0
        for k in range(count):
            sums[0, i] += likeness[i, k]
        for k in range(count):
            sums[1, k] += likeness[i, k]
    for i in range(count):
        negative += (np.log(sums[0, i]) + np.log(sums[1, i])) / 2 if both else np.log(sums[0, i])
    floats(loss_at, (1,))[0] = (negative - positive) / count


@compiled
def _contrast_backward(
    units_at: int, length_at: int, likeness_at: int, sums_at: int, out_at: int, count: int, width: int, scale: float,
    both: bool,
) -> None:  # fmt: skip
    units, length = doubles(units_at, (2 * count, width)), doubles(length_at, (2 * count,))
    likeness, sums = doubles(likeness_at, (count, count)), doubles(sums_at, (2, count))
    out, grad = floats(out_at, (2 * count, width)), np.zeros((2 * count, width))
    for i in range(count):
        by_row = 1 / sums[0, i]
        for k in range(count):
            share = (by_row + 1 / sums[1, k]) / 2 if both else by_row
            slope = -scale if i == k else scale * likeness[i, k] * share
            for j in range(width):
                grad[i, j] += slope * units[count + k, j]
            for j in range(width):
                grad[count + k, j] += slope * units[i, j]
    for i in range(2 * count):
        # Through the normalisation: only the component orthogonal to a row counts.
        along = 0.0
        for j in range(width):
            along += grad[i, j] * units[i, j]
        for j in range(width):
            out[i, j] = (grad[i, j] - along * units[i, j]) / length[i]
