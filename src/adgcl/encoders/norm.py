"""Batch normalisation over nodes: of one batch, of several copies of it, of a single row."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class NodeNorm(nn.BatchNorm1d):
    """BatchNorm1d over the rows of one or more copies of a batch, standing one after another.

    Each copy is normalised by its own statistics, and the running statistics see the copies in turn, as if each came
    in a pass of its own. A copy with one row has no variance: it is normalised by the running statistics.
    """

    def forward(self, x: Tensor, copies: int = 1) -> Tensor:
        if self.uses_running(len(x) // copies):
            return F.batch_norm(x, self.running_mean, self.running_var, self.weight, self.bias, eps=self.eps)
        parts = [
            F.batch_norm(
                part, self.running_mean, self.running_var, self.weight, self.bias, True, self.momentum or 0.0, self.eps
            )
            for part in x.chunk(copies)
        ]
        return parts[0] if copies == 1 else torch.cat(parts)

    def uses_running(self, rows: int) -> bool:
        """Whether a copy with this many rows is normalised by the running statistics."""
        return not self.training or rows < 2
