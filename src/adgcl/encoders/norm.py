"""Batch normalisation over nodes: of one batch, of several copies of it, of a single row, of weighted rows."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from adgcl.encoders.norm_kernels import normalise, normalise_backward
from adgcl.encoders.shared_norm import shared_norm
from adgcl.graphs.kernels.compiled import compiles
from adgcl.parallel.collectives import shares_statistics

# Weights that add up to less than two whole rows define no variance; straight-through weights that should add up to
# two may fall short by a rounding error.
_FEWEST = 1.5


class NodeNorm(nn.BatchNorm1d):
    """BatchNorm1d over the rows of one or more copies of a batch, laid out one after another.

    Each copy is normalised by its own statistics and updates the running statistics in turn, as if each came in its
    own pass. A copy with one row has no variance: it is normalised by the running statistics. In a copy whose View
    weights nodes, a row counts in the statistics with its node's weight; a row that stands for several nodes counts
    as much as all of them. Processes that train together may share the statistics of their rows.
    """

    def forward(
        self, x: Tensor, copies: int = 1, node_keeps: tuple[Tensor | None, ...] = (), relu: bool = False
    ) -> Tensor:
        """Normalise, and apply a relu if requested, in the same pass where possible."""
        keeps = node_keeps or (None,) * copies
        if self.training and shares_statistics():
            return shared_norm(self, x, keeps, relu, _FEWEST)
        # A single row may have a large total weight.
        if self.uses_running(2 if keeps[0] is not None else len(x) // copies):
            out = self.by_running(x)
        elif compiles(x) and self._in_one_pass(keeps):
            weights = None if keeps[0] is None else keeps[0].to(x.dtype).contiguous()
            return _Normalise.apply(x, self.weight, self.bias, self, copies, weights, relu)
        else:
            parts = [self._by_own(part, keep) for part, keep in zip(x.chunk(copies), keeps, strict=True)]
            out = parts[0] if copies == 1 else torch.cat(parts)
        return out.relu() if relu else out

    def _in_one_pass(self, keeps: tuple[Tensor | None, ...]) -> bool:
        """Whether all rows count the same, or there is one copy with fixed weights: learned weights need a gradient."""
        if all(keep is None for keep in keeps):
            return True
        return len(keeps) == 1 and not keeps[0].requires_grad and float(keeps[0].sum()) >= _FEWEST  # type: ignore[union-attr]

    def uses_running(self, rows: int) -> bool:
        """Whether a copy with this many rows is normalised by the running statistics."""
        return not self.training or rows < 2

    def by_running(self, x: Tensor) -> Tensor:
        mean, var = self.running_mean, self.running_var
        if self.training and mean is not None and var is not None:
            # Another copy may update them before the backward pass reads them.
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
        count = float(node_keep.detach().sum())
        if count < _FEWEST:
            return self.by_running(x)
        dtype = self.weight.dtype
        with torch.autocast(x.device.type, enabled=False):
            out, mean, var = _WeightedNorm.apply(x.to(dtype), node_keep.to(dtype), self.weight, self.bias, self.eps)
        self.see(mean, var * (count / (count - 1)))
        return out.to(x.dtype)

    @torch.no_grad()
    def see(self, mean: Tensor, var: Tensor) -> None:
        """Move the running statistics towards those of one copy.

        Through `data`, like torch's own kernel: other copies save them for a backward pass that never reads them.
        """
        assert self.running_mean is not None and self.running_var is not None
        self.running_mean.data.lerp_(mean, self.momentum or 0.0)
        self.running_var.data.lerp_(var, self.momentum or 0.0)


def normed(h: Tensor, norm: NodeNorm | None, copies: int, node_keeps: tuple[Tensor | None, ...], relu: bool) -> Tensor:
    """What follows a linear map: the normalisation, if there is one, and an optional relu."""
    if norm is not None:
        out: Tensor = norm(h, copies, node_keeps, relu)
        return out
    return h.relu() if relu else h


class _Normalise(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        gamma: Tensor,
        beta: Tensor,
        norm: NodeNorm,
        copies: int,
        weights: Tensor | None,
        relu: bool,
    ) -> Tensor:
        out, ctx.normed = normalise(x.contiguous(), norm, gamma, beta, copies, relu, weights)
        ctx.eps = norm.eps
        ctx.save_for_backward(gamma, out if relu else None)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        gamma, out = ctx.saved_tensors
        return *normalise_backward(grad.contiguous(), out, ctx.normed, gamma, ctx.eps), None, None, None, None


class _WeightedNorm(torch.autograd.Function):
    """`y = (x - mean) / sqrt(var + eps) * gamma + beta`, `mean` and `var` being those of weighted rows.

    Written out by hand because autograd takes four times as long for the same formulas.
    """

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, keep: Tensor, gamma: Tensor, beta: Tensor, eps: float
    ) -> tuple[Tensor, Tensor, Tensor]:
        total = keep.sum()
        share = keep / total
        mean = share @ x
        centred = x - mean
        var = share @ centred.square()
        scale = torch.rsqrt(var + eps)
        unit = centred.mul_(scale)
        ctx.save_for_backward(unit, share, total, gamma, scale)
        ctx.mark_non_differentiable(mean, var)
        return torch.addcmul(beta, unit, gamma), mean, var

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor, *unused: Tensor) -> tuple[Tensor | None, ...]:
        unit, share, total, gamma, scale = ctx.saved_tensors
        grad_x = grad_keep = None
        grad_gamma, grad_beta = (grad * unit).sum(0), grad.sum(0)
        # How the loss moves with the mean and with the variance, in units of the standard deviation.
        by_mean, by_var = gamma * grad_beta, gamma * grad_gamma
        if ctx.needs_input_grad[0]:
            pulled = torch.addcmul(by_mean, unit, by_var).mul_(share.unsqueeze(1))
            grad_x = (grad * gamma).sub_(pulled).mul_(scale)
        if ctx.needs_input_grad[1]:
            by_share = unit @ by_mean + unit.square() @ by_var / 2
            grad_keep = (share @ by_share - by_share) / total
        return grad_x, grad_keep, grad_gamma, grad_beta, None
