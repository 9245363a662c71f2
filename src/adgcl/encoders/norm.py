"""Batch normalisation over nodes: of one batch, of two copies side by side, of a single row."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class NodeNorm(nn.BatchNorm1d):
    """BatchNorm1d that treats `copies` interleaved copies of a batch as if they came one after another.

    Each copy is normalised by its own statistics, and the running statistics see them in turn. A batch with one row
    has no variance, so it is normalised by the running statistics.
    """

    def forward(self, x: Tensor, copies: int = 1) -> Tensor:
        if self.uses_running(x, copies):
            return F.batch_norm(x, self.running_mean, self.running_var, self.weight, self.bias, eps=self.eps)
        if copies == 1:
            return super().forward(x)
        wide = x.view(-1, copies * self.num_features)
        weight, bias = self.weight.repeat(copies), self.bias.repeat(copies)
        out, mean, inverse_std = torch.native_batch_norm(wide, weight, bias, None, None, True, 0.0, self.eps)
        self.remember(mean.detach(), inverse_std.detach(), len(wide), copies)
        return out.view_as(x)

    def uses_running(self, x: Tensor, copies: int = 1) -> bool:
        """Whether `x` is normalised by the running statistics."""
        return not self.training or len(x) < 2 * copies

    @torch.no_grad()
    def remember(self, mean: Tensor, inverse_std: Tensor, rows: int, copies: int) -> None:
        """Blend the statistics of each copy into the running ones, in turn."""
        assert self.running_mean is not None and self.running_var is not None and self.momentum is not None
        variance = inverse_std.pow(-2).sub_(self.eps).mul_(rows / (rows - 1))
        for copy_mean, copy_variance in zip(mean.view(copies, -1), variance.view(copies, -1)):
            self.running_mean.lerp_(copy_mean, self.momentum)
            self.running_var.lerp_(copy_variance, self.momentum)
        if self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(copies)
