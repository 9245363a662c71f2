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
    with torch.autocast(z.device.type, enabled=False):
        loss: Tensor = _Contrast.apply(z.float(), z_view.float(), temperature, directions == "both")
    return loss


class _Contrast(torch.autograd.Function):
    """Forward and backward by hand: the gradient of the similarities is a softmax over negatives minus the identity."""

    @staticmethod
    def forward(ctx: Any, z: Tensor, z_view: Tensor, temperature: float, both: bool) -> Tensor:
        length, view_length = (
            torch.linalg.vector_norm(t, dim=1, keepdim=True).clamp_(min=_SHORTEST) for t in (z, z_view)
        )
        unit, view_unit = z / length, z_view / view_length
        similarity = (unit @ view_unit.t()).div_(temperature)
        positive = similarity.diagonal().mean()
        negatives = similarity.fill_diagonal_(-torch.inf)
        over_columns = negatives.logsumexp(1)
        over_rows = negatives.logsumexp(0) if both else None
        ctx.temperature = temperature
        ctx.save_for_backward(unit, view_unit, length, view_length, negatives, over_columns, over_rows)
        if over_rows is None:
            return over_columns.mean() - positive
        return (over_columns.mean() + over_rows.mean()) / 2 - positive

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, Tensor | None, None, None]:
        unit, view_unit, length, view_length, negatives, over_columns, over_rows = ctx.saved_tensors
        slope = (negatives - over_columns.unsqueeze(1)).exp_()
        if over_rows is not None:
            slope.add_((negatives - over_rows).exp_()).mul_(0.5)
        slope.diagonal().sub_(1.0)
        slope.mul_(grad / (len(slope) * ctx.temperature))
        grad_z = grad_view = None
        if ctx.needs_input_grad[0]:
            grad_z = _through_normalisation(slope @ view_unit, unit, length)
        if ctx.needs_input_grad[1]:
            grad_view = _through_normalisation(slope.t() @ unit, view_unit, view_length)
        return grad_z, grad_view, None, None


def _through_normalisation(grad: Tensor, unit: Tensor, length: Tensor) -> Tensor:
    """The gradient of `z` given that of `z / |z|`: only what is across `z` counts."""
    along = (grad * unit).sum(1, keepdim=True)
    return (grad - unit * along).div_(length)
