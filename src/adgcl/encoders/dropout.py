"""Dropout whose noise comes from the run's own generator, so that runs in parallel threads do not share it."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Dropout(nn.Module):
    """`F.dropout` with its own generator; without one it draws from torch's global state."""

    def __init__(self, share: float) -> None:
        super().__init__()
        self.share = share
        self.generator: torch.Generator | None = None

    def forward(self, h: Tensor) -> Tensor:
        if not self.share or not self.training:
            return h
        keep = torch.empty_like(h).bernoulli_(1 - self.share, generator=self.generator)
        return h * keep.div_(1 - self.share)


def give_generator(module: nn.Module, generator: torch.Generator) -> None:
    """Let every Dropout below `module` draw from `generator`."""
    for part in module.modules():
        if isinstance(part, Dropout):
            part.generator = generator
