"""A drop budget: the price of dropping moves until the augmenter drops as much as it is told to."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from adgcl.parallel.collectives import average

# How strongly the price reacts to the error itself. Lambda adds errors up, and the augmenter follows it with a delay:
# without this the two would swing around the budget.
_DAMPING = 4.0
# Where there is nothing to drop, as in graphs without edges, lambda would fall without end.
_LIMIT = 1000.0


class DropBudget(nn.Module):
    """`max over augmenter of InfoNCE(G, t(G))` where it changes `budget` of a graph on average.

    Lambda is the multiplier of this constraint, moved by dual ascent after each step:

        lambda <- lambda + rate * (1 + |lambda|) * error,  error = (ratio - budget) / (budget * (1 - budget))

    The error is in units of a gate's logit, and steps are larger where lambda is, so that one rate suits all budgets
    and data. For each share it drops the augmenter pays `lambda + damping * (1 + |lambda|) * error`: this is the method
    of multipliers, which reaches the same point without swinging around it. An augmenter that drops too little is paid
    to drop more, and so comes back before its gates are too far shut to move.
    """

    reg_lambda: Tensor

    def __init__(self, budget: float, start: float, rate: float) -> None:
        super().__init__()
        self.budget, self.rate = budget, rate
        # A buffer, so that checkpoints have it.
        self.register_buffer("reg_lambda", torch.tensor(start))

    def price(self, ratio: Tensor) -> Tensor:
        """What the augmenter pays for each share it drops, when it drops `ratio`."""
        return self._moved(ratio, _DAMPING)

    @torch.no_grad()
    def move(self, ratio: Tensor) -> None:
        """One step of lambda, after a step that dropped `ratio`."""
        self.reg_lambda.copy_(self._moved(ratio, self.rate).clamp(-_LIMIT, _LIMIT))

    def _moved(self, ratio: Tensor, step: float) -> Tensor:
        error = (average(ratio) - self.budget) / (self.budget * (1 - self.budget))
        return self.reg_lambda + step * (1 + self.reg_lambda.abs()) * error
