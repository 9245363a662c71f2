"""InfoNCE between original and augmented graphs (Eq. 9 of the paper)."""

from __future__ import annotations

from typing import Any, Literal

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

Directions = Literal["one", "both"]


def info_nce(z: Tensor, z_view: Tensor, temperature: float = 0.2, directions: Directions = "both") -> Tensor:
    """`-mean_i [ s_ii - log sum_{j != i} exp s_ij ]` with `s_ij = cos(z_i, z_view_j) / temperature`.

    The positive pair is not in the denominator, so the loss can be negative. With `both` directions the mean over
    rows (the original is the anchor) is averaged with that over columns. One graph has no negatives: the loss is 0.
    """
    similarity = F.normalize(z.float(), dim=1) @ F.normalize(z_view.float(), dim=1).t() / temperature
    if len(z) < 2:
        return similarity.sum() * 0.0
    loss: Tensor = _Contrast.apply(similarity, directions == "both")
    return loss


class _Contrast(torch.autograd.Function):
    """The loss as a function of the similarities; its gradient is a softmax over negatives minus the identity."""

    @staticmethod
    def forward(ctx: Any, similarity: Tensor, both: bool) -> Tensor:
        positive = similarity.diagonal()
        negatives = similarity.clone().fill_diagonal_(-torch.inf)
        ctx.both = both
        over_columns = negatives.logsumexp(1)
        over_rows = negatives.logsumexp(0) if both else None
        ctx.save_for_backward(negatives, over_columns, over_rows)
        loss = (over_columns - positive).mean()
        return loss if over_rows is None else (loss + (over_rows - positive).mean()) / 2

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        negatives, over_columns, over_rows = ctx.saved_tensors
        slope = (negatives - over_columns.unsqueeze(1)).exp_()
        if over_rows is not None:
            slope.add_((negatives - over_rows).exp_()).mul_(0.5)
        slope.diagonal().sub_(1.0)
        return slope.mul_(grad / len(negatives)), None
