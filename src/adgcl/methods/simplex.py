"""The probability simplex: where a projected gradient step ends."""

from __future__ import annotations

import torch
from torch import Tensor

# Each halves what is left of an interval: enough for every digit of 64 bits.
_HALVINGS = 60


def project_on_simplex(b: Tensor) -> Tensor:
    """The probabilities nearest to `b`: `max(b - mu, 0)` with the threshold `mu` at which they add up to 1.

    `mu` is found by bisection, as the authors of JOAO do. Deviation: they stop within 1e-2 of a sum of 1.
    """
    wide = b.cpu().double()
    low, high = wide.min() - 1 / len(b), wide.max() - 1 / len(b)
    for _ in range(_HALVINGS):
        mu = (low + high) / 2
        too_much = (wide - mu).clamp(min=0).sum() > 1
        low, high = torch.where(too_much, mu, low), torch.where(too_much, high, mu)
    q = (wide - low).clamp(min=0)
    return (q / q.sum()).to(b)
