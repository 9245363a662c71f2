"""InfoNCE between original and augmented graphs (Eq. 9 of the paper)."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor
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
    positive = similarity.diagonal()
    negatives = similarity.masked_fill(torch.eye(len(z), dtype=torch.bool, device=z.device), -torch.inf)
    loss = (negatives.logsumexp(1) - positive).mean()
    if directions == "both":
        loss = (loss + (negatives.logsumexp(0) - positive).mean()) / 2
    return loss
