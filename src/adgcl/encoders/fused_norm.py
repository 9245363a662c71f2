"""The second linear map and the normalisation of fused layers: small things for all layers at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from adgcl.encoders.norm import NodeNorm

Weights = tuple[Tensor, ...]
_backward = torch.ops.aten.native_batch_norm_backward.default
_WANTED = [True, True, True]


class FixedNorms:
    """Normalising by fixed statistics is an affine map, so it folds into the linear map in front of it.

    `scale (W2 hidden - mean) + beta` with `scale = gamma / sqrt(var + eps)`.
    """

    def __init__(self, norms: Sequence[NodeNorm], second: Weights, gamma: Weights, beta: Weights, copies: int) -> None:
        self.second = torch.stack(second)
        # By the dictionaries of the modules: their attributes would cost as much as a kernel.
        self.mean = torch.stack([norm._buffers["running_mean"] for norm in norms])  # type: ignore[misc]
        var = torch.stack([norm._buffers["running_var"] for norm in norms])  # type: ignore[misc]
        self.fixed = var.add_(norms[0].eps).rsqrt_()
        self.scale = self.fixed * torch.stack(gamma)
        self.shifts = torch.addcmul(torch.stack(beta), self.mean, self.scale, value=-1).unbind()
        self.weights = (self.second * self.scale.unsqueeze(2)).unbind()

    def forward(self, i: int, hidden: Tensor) -> tuple[Tensor, None]:
        return F.linear(hidden, self.weights[i], self.shifts[i]), None

    def backward(
        self, i: int, grad: Tensor, hidden: Tensor, normed: None, wanted: bool
    ) -> tuple[Tensor, Tensor | None, Tensor | None, Tensor | None]:
        """The gradients of `hidden`, W2, gamma and beta."""
        inward = grad @ self.weights[i]
        if not wanted:
            return inward, None, None, None
        of_folded, of_beta = grad.t() @ hidden, grad.sum(0)
        of_scale = (of_folded * self.second[i]).sum(1) - of_beta * self.mean[i]
        return inward, of_folded * self.scale[i].unsqueeze(1), of_scale * self.fixed[i], of_beta

    def over_copies(self, grads: list[Tensor]) -> Sequence[Tensor]:
        return grads


class OwnNorms:
    """Every copy is normalised by its own statistics, and the running ones see the copies in turn."""

    def __init__(self, norms: Sequence[NodeNorm], second: Weights, gamma: Weights, beta: Weights, copies: int) -> None:
        self.norms, self.second, self.gamma, self.beta, self.copies = norms, second, gamma, beta, copies

    def forward(self, i: int, hidden: Tensor) -> tuple[Tensor, list[tuple[Tensor, ...]]]:
        before = F.linear(hidden, self.second[i])
        norm, buffers = self.norms[i], self.norms[i]._buffers
        rest = self.gamma[i], self.beta[i], buffers["running_mean"], buffers["running_var"], True, norm.momentum or 0.0
        parts = (before,) if self.copies == 1 else before.chunk(self.copies)
        outs = [torch.native_batch_norm(part, *rest, norm.eps) for part in parts]
        out = outs[0][0] if self.copies == 1 else torch.cat([part for part, _, _ in outs])
        return out, [(part, mean, inverse) for part, (_, mean, inverse) in zip(parts, outs)]

    def backward(
        self, i: int, grad: Tensor, hidden: Tensor, normed: list[tuple[Tensor, ...]], wanted: bool
    ) -> tuple[Tensor, Any, Any, Any]:
        """The gradients of `hidden`, W2, gamma and beta; those of the last two still apart for every copy."""
        grads = (grad,) if self.copies == 1 else grad.chunk(self.copies)
        parts = [
            _backward(g, before, self.gamma[i], None, None, mean, inverse, True, self.norms[i].eps, _WANTED)
            for g, (before, mean, inverse) in zip(grads, normed)
        ]
        inners, of_gamma, of_beta = zip(*parts)
        inner = inners[0] if self.copies == 1 else torch.cat(inners)
        return inner @ self.second[i], inner.t() @ hidden if wanted else None, of_gamma, of_beta

    def over_copies(self, grads: list[tuple[Tensor, ...]]) -> Sequence[Tensor]:
        """Sums over the copies that `backward` left apart."""
        if self.copies == 1 or not grads:
            return [grad for (grad,) in grads]
        together = torch.stack([part for parts in grads for part in parts])
        return together.view(len(grads), self.copies, -1).sum(1).unbind()
