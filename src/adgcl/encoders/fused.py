"""A whole GIN layer as one autograd function: the same arithmetic with a fraction of the overhead.

At the paper's width (32) a step spends most of its time between kernels, not in them. Written out by hand, a layer is
six kernel calls forward and a dozen backward, temporaries are reused in place, and nothing is computed for inputs
that need no gradient.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from adgcl.encoders.norm import NodeNorm
from adgcl.graphs.batch import GraphBatch
from adgcl.graphs.ops import adjacency_product, dots_at_edges, transposed_product

_native = torch.ops.aten


class FusedGINLayer(torch.autograd.Function):
    """`relu(norm(W2 relu(W1 (h + A h) + b1) + b2))`; the outer relu is optional.

    Deviation: the gradient of `b2` in front of a batch normalisation is returned as the exact zero it is, instead of
    the rounding noise that automatic differentiation finds (Adam would blow that noise up to full steps).
    """

    @staticmethod
    def forward(
        ctx: Any, h: Tensor, keep: Tensor, w1: Tensor, b1: Tensor, w2: Tensor, b2: Tensor, gamma: Tensor, beta: Tensor,
        batch: GraphBatch, norm: NodeNorm, copies: int, relu: bool,
    ) -> Tensor:  # fmt: skip
        summed = adjacency_product(batch, keep, h, plus=h)
        hidden = torch.addmm(b1, summed, w1.t()).relu_()
        mean = inverse_std = before = None
        if norm.uses_running(hidden, copies):
            # Normalising by fixed statistics is an affine map: it folds into the second linear layer.
            fixed = torch.rsqrt(norm.running_var + norm.eps)  # type: ignore[operator]
            scale = gamma * fixed
            shift = (b2 - norm.running_mean) * scale  # type: ignore[operator]
            w2 = w2 * scale.unsqueeze(1)
            out = torch.addmm(shift + beta, hidden, w2.t())
            ctx.folded = (shift, scale, fixed)
        else:
            before = torch.addmm(b2, hidden, w2.t()).view(-1, copies * norm.num_features)
            wide = (gamma.repeat(copies), beta.repeat(copies)) if copies > 1 else (gamma, beta)
            out, mean, inverse_std = torch.native_batch_norm(before, *wide, None, None, True, 0.0, norm.eps)
            norm.remember(mean, inverse_std, len(before), copies)
            out = out.view(len(hidden), -1)
            ctx.folded = None
        if relu:
            out.relu_()
        ctx.batch, ctx.copies, ctx.relu, ctx.eps = batch, copies, relu, norm.eps
        needs_h = ctx.needs_input_grad[1]
        ctx.save_for_backward(
            h if needs_h else None, keep, w1, w2, gamma, summed, hidden, before, mean, inverse_std, out if relu else None
        )
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        h, keep, w1, w2, gamma, summed, hidden, before, mean, inverse_std, out = ctx.saved_tensors
        need = ctx.needs_input_grad
        grad = grad.contiguous()
        if ctx.relu:
            grad = _native.threshold_backward(grad, out, 0)
        grad_w2 = grad_b2 = grad_gamma = grad_beta = grad_w1 = grad_b1 = grad_h = grad_keep = None
        if ctx.folded is None:
            wide = gamma.repeat(ctx.copies) if ctx.copies > 1 else gamma
            grad, grad_gamma, grad_beta = _native.native_batch_norm_backward(
                grad.view_as(before), before, wide, None, None, mean, inverse_std, True, ctx.eps, [True, need[6], need[7]]
            )
            grad = grad.view(len(hidden), -1)
            if ctx.copies > 1 and need[6]:
                grad_gamma, grad_beta = (g.view(ctx.copies, -1).sum(0) for g in (grad_gamma, grad_beta))
            if need[4]:
                grad_w2, grad_b2 = grad.t() @ hidden, torch.zeros_like(gamma)
        elif need[4] or need[6]:
            grad_w2, grad_b2, grad_gamma, grad_beta = _unfolded(grad, hidden, w2, *ctx.folded)
        grad = _native.threshold_backward(grad @ w2, hidden, 0)
        if need[2]:
            grad_w1, grad_b1 = grad.t() @ summed, grad.sum(0)
        if need[0] or need[1]:
            grad = grad @ w1
            if need[1]:
                grad_keep = dots_at_edges(grad, h, ctx.batch)
            if need[0]:
                grad_h = transposed_product(ctx.batch, keep, grad, plus=grad)
        return grad_h, grad_keep, grad_w1, grad_b1, grad_w2, grad_b2, grad_gamma, grad_beta, None, None, None, None


def _unfolded(
    grad: Tensor, hidden: Tensor, w2: Tensor, out_bias: Tensor, scale: Tensor, inverse_std: Tensor
) -> tuple[Tensor, ...]:
    """Gradients of the second layer and of the normalisation folded into it.

    The folded layer is `out = scale * (W2 hidden + b2 - running_mean) + beta` with `scale = gamma * inverse_std`.
    """
    by_output = grad.t() @ hidden
    grad_beta = grad.sum(0)
    # d out / d gamma = inverse_std * (W2 hidden + b2 - running_mean); `w2` and `out_bias` are already times scale.
    raw = (by_output * w2).sum(1) + grad_beta * out_bias
    grad_gamma = raw / scale * inverse_std
    return by_output * scale.unsqueeze(1), grad_beta * scale, grad_gamma, grad_beta
