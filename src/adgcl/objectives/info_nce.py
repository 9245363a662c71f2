"""InfoNCE between original and augmented graphs (Eq. 9 of the paper)."""

from __future__ import annotations

from typing import Any, Literal

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

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
    loss: Tensor = _Contrast.apply(z, z_view, temperature, directions == "both")
    return loss


class _Contrast(torch.autograd.Function):
    """Forward and backward by hand: the gradient of the similarities is a softmax over negatives minus the identity.

    The matrix of similarities is small, so it is kept in 64 bits: cosines over any temperature above 0.0015 then have
    exponentials without a shift by the largest, which rows and columns would want differently.
    """

    @staticmethod
    def forward(ctx: Any, z: Tensor, z_view: Tensor, temperature: float, both: bool) -> Tensor:
        stacked = torch.cat((z, z_view)).to(torch.float32 if z.device.type == "mps" else torch.float64)
        length = torch.linalg.vector_norm(stacked, dim=1, keepdim=True).clamp_(min=_SHORTEST)
        units = stacked.div_(length)
        unit, view_unit = units.chunk(2)
        similarity = unit @ view_unit.t().div(temperature)
        positive = similarity.trace()
        likeness = similarity.exp_().fill_diagonal_(0.0)
        by_row = likeness.sum(1)
        by_column = likeness.sum(0) if both else None
        ctx.temperature, ctx.dtype = temperature, z.dtype
        ctx.save_for_backward(units, length, likeness, by_row, by_column)
        negative = by_row.log().sum()
        if by_column is not None:
            negative = (negative + by_column.log().sum()).div_(2)
        return ((negative - positive) / len(z)).float()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, Tensor | None, None, None]:
        units, length, likeness, by_row, by_column = ctx.saved_tensors
        unit, view_unit = units.chunk(2)
        slope = likeness / by_row.unsqueeze(1)
        if by_column is not None:
            slope.add_(likeness / by_column).div_(2)
        slope.fill_diagonal_(-1.0).mul_(grad / (len(slope) * ctx.temperature))
        grads = torch.cat((slope @ view_unit, slope.t() @ unit))
        # Through the normalisation: only what is across a row counts.
        along = (grads * units).sum(1, keepdim=True)
        grad_z, grad_view = grads.addcmul_(units, along, value=-1).div_(length).to(ctx.dtype).chunk(2)
        return grad_z, grad_view, None, None
