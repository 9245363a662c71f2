"""Batch normalisation over nodes: of one batch, of several copies of it, of a single row, of weighted rows."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

# Weights that add up to fewer than two whole rows say nothing of a variance; a straight-through weight of "two" may
# be a rounding error below it.
_FEWEST = 1.5


class NodeNorm(nn.BatchNorm1d):
    """BatchNorm1d over the rows of one or more copies of a batch, standing one after another.

    Each copy is normalised by its own statistics, and the running statistics see the copies in turn, as if each came
    in a pass of its own. A copy with one row has no variance: it is normalised by the running statistics. In a copy
    whose View weighs nodes, a row counts as much in the statistics as its node.
    """

    def forward(self, x: Tensor, copies: int = 1, node_keeps: tuple[Tensor | None, ...] = ()) -> Tensor:
        if self.uses_running(len(x) // copies):
            return self._by_running(x)
        keeps = node_keeps or (None,) * copies
        parts = [self._by_own(part, keep) for part, keep in zip(x.chunk(copies), keeps, strict=True)]
        return parts[0] if copies == 1 else torch.cat(parts)

    def uses_running(self, rows: int) -> bool:
        """Whether a copy with this many rows is normalised by the running statistics."""
        return not self.training or rows < 2

    def _by_running(self, x: Tensor) -> Tensor:
        mean, var = self.running_mean, self.running_var
        if self.training and mean is not None and var is not None:
            # Another copy may move them before the backward pass reads them.
            mean, var = mean.clone(), var.clone()
        return F.batch_norm(x, mean, var, self.weight, self.bias, eps=self.eps)

    def _by_own(self, x: Tensor, node_keep: Tensor | None) -> Tensor:
        if node_keep is not None:
            return self._by_weighted(x, node_keep)
        return F.batch_norm(
            x, self.running_mean, self.running_var, self.weight, self.bias, True, self.momentum or 0.0, self.eps
        )

    def _by_weighted(self, x: Tensor, node_keep: Tensor) -> Tensor:
        """`(x - mean) / sqrt(var + eps) * weight + bias` with `mean` and `var` of the weighted rows."""
        dtype = self.weight.dtype
        with torch.autocast(x.device.type, enabled=False):
            wide, keep = x.to(dtype), node_keep.to(dtype)
            total = keep.sum()
            if total < _FEWEST:
                return self._by_running(x)
            share = keep / total
            mean = share @ wide
            centred = wide - mean
            var = share @ centred.square()
            self._see(mean, var, total)
            return torch.addcmul(self.bias, centred, torch.rsqrt(var + self.eps) * self.weight).to(x.dtype)

    @torch.no_grad()
    def _see(self, mean: Tensor, var: Tensor, count: Tensor) -> None:
        """Move the running statistics towards those of one copy with `count` rows' worth of weight.

        Through `data`, as torch's own kernel does it: other copies hold them for a backward pass that never reads them.
        """
        assert self.running_mean is not None and self.running_var is not None
        self.running_mean.data.lerp_(mean, self.momentum or 0.0)
        self.running_var.data.lerp_(var * (count / (count - 1)), self.momentum or 0.0)
