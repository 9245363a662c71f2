"""The second linear map and the normalisation of fused layers: small quantities, computed for all layers at once."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from adgcl.encoders.norm import NodeNorm
from adgcl.encoders.norm_kernels import Normed, normalise, normalise_backward

Weights = tuple[Tensor, ...]
# The gradients of the input, of W2, gamma and beta.
Gradients = tuple[Tensor, Tensor | None, Tensor | None, Tensor | None]
_masked = torch.ops.aten.threshold_backward.default


class FixedNorms:
    """Normalising by fixed statistics is an affine map, so it folds into the linear map in front of it.

    `scale (W2 hidden - mean) + beta` with `scale = gamma / sqrt(var + eps)`.
    """

    def __init__(self, norms: Sequence[NodeNorm], second: Weights, gamma: Weights, beta: Weights, copies: int) -> None:
        self.second = torch.stack(second)
        # Read from the modules' dictionaries: attribute access would cost as much as a kernel.
        self.mean = torch.stack([norm._buffers["running_mean"] for norm in norms])  # type: ignore[misc]
        var = torch.stack([norm._buffers["running_var"] for norm in norms])  # type: ignore[misc]
        self.fixed = var.add_(norms[0].eps).rsqrt_()
        self.scale = self.fixed * torch.stack(gamma)
        self.shifts = torch.addcmul(torch.stack(beta), self.mean, self.scale, value=-1).unbind()
        self.weights = (self.second * self.scale.unsqueeze(2)).unbind()

    def forward(self, i: int, hidden: Tensor, relu: bool) -> tuple[Tensor, None]:
        out = F.linear(hidden, self.weights[i], self.shifts[i])
        return out.relu_() if relu else out, None

    def backward(
        self, i: int, grad: Tensor, out: Tensor | None, hidden: Tensor, normed: None, wanted: bool
    ) -> Gradients:
        grad = grad if out is None else _masked(grad, out, 0)
        inward = grad @ self.weights[i]
        if not wanted:
            return inward, None, None, None
        of_folded, of_beta = grad.t() @ hidden, grad.sum(0)
        of_scale = (of_folded * self.second[i]).sum(1) - of_beta * self.mean[i]
        return inward, of_folded * self.scale[i].unsqueeze(1), of_scale * self.fixed[i], of_beta


class OwnNorms:
    """Every copy is normalised by its own statistics, and each updates the running ones in turn."""

    def __init__(self, norms: Sequence[NodeNorm], second: Weights, gamma: Weights, beta: Weights, copies: int) -> None:
        self.norms, self.second, self.gamma, self.beta, self.copies = norms, second, gamma, beta, copies

    def forward(self, i: int, hidden: Tensor, relu: bool) -> tuple[Tensor, Normed]:
        before = F.linear(hidden, self.second[i])
        return normalise(before, self.norms[i], self.gamma[i], self.beta[i], self.copies, relu)

    def backward(
        self, i: int, grad: Tensor, out: Tensor | None, hidden: Tensor, normed: Normed, wanted: bool
    ) -> Gradients:
        inner, of_gamma, of_beta = normalise_backward(grad, out, normed, self.gamma[i], self.norms[i].eps)
        return inner @ self.second[i], inner.t() @ hidden if wanted else None, of_gamma, of_beta
