"""Scores of pairs: those that belong together against those that do not (Hu et al. 2020)."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional as F

from adgcl.parallel.collectives import average_count


def pair_loss(positive: Tensor, negative: Tensor, weight: float = 1.0) -> Tensor:
    """`-mean log sigmoid(positive) - weight * mean log sigmoid(-negative)`; a side without pairs adds 0.

    Scores that are all 0 give `(1 + weight) log 2`.
    """
    return _mean(F.softplus(-positive.float())) + weight * _mean(F.softplus(negative.float()))


def inner_products(z: Tensor, other: Tensor) -> Tensor:
    """The inner product of each row with the row in the same place."""
    return (z.float() * other.float()).sum(1)


def _mean(losses: Tensor) -> Tensor:
    return losses.sum() / (average_count(len(losses)) or 1)
