"""A whole GIN layer as one autograd function: the same arithmetic with a fraction of the overhead.

At the paper's width (32) a step spends most of its time between kernels, not in them. Written out by hand, a layer is
half a dozen kernel calls forward and a dozen backward, temporaries are reused in place, and nothing is computed for
inputs that need no gradient.
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

    `h` holds one or more copies of the batch's nodes, one copy after another; `keep` weighs the edges of the last
    copy, all edges of earlier ones count 1.

    Deviation: the gradient of `b2` in front of a batch normalisation is returned as the exact zero it is, instead of
    the rounding noise that automatic differentiation finds (Adam would blow that noise up to full steps).
    """

    @staticmethod
    def forward(
        ctx: Any, h: Tensor, keep: Tensor | None, w1: Tensor, b1: Tensor, w2: Tensor, b2: Tensor, gamma: Tensor,
        beta: Tensor, batch: GraphBatch, norm: NodeNorm, copies: int, relu: bool,
    ) -> Tensor:  # fmt: skip
        ctx.batch, ctx.copies, ctx.relu, ctx.eps = batch, copies, relu, norm.eps
        ctx.folded = ctx.moments = before = None
        summed = _each(lambda part, weight: adjacency_product(batch, weight, part, plus=part), h, keep, copies)
        hidden = torch.addmm(b1, summed, w1.t()).relu_()
        if norm.uses_running(len(h) // copies):
            # Normalising by fixed statistics is an affine map: it folds into the second linear layer.
            assert norm.running_mean is not None and norm.running_var is not None
            fixed = torch.rsqrt(norm.running_var + norm.eps)
            scale = gamma * fixed
            shift = (b2 - norm.running_mean) * scale
            w2 = w2 * scale.unsqueeze(1)
            out = torch.addmm(shift + beta, hidden, w2.t())
            ctx.folded = (shift, scale, fixed)
        else:
            before = torch.addmm(b2, hidden, w2.t())
            out, ctx.moments = _normalise(before, gamma, beta, norm, copies)
        if relu:
            out.relu_()
        kept_h = h if keep is not None and ctx.needs_input_grad[1] else None
        ctx.save_for_backward(kept_h, keep, w1, w2, gamma, summed, hidden, before, out if relu else None)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        h, keep, w1, w2, gamma, summed, hidden, before, out = ctx.saved_tensors
        need = ctx.needs_input_grad
        grad_h = grad_keep = grad_w1 = grad_b1 = grad_w2 = grad_b2 = grad_gamma = grad_beta = None
        grad = _native.threshold_backward(grad, out, 0) if ctx.relu else grad.contiguous()
        if ctx.folded is None:
            grad, grad_gamma, grad_beta = _normalise_backward(ctx, grad, before, gamma)
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
            last = slice(len(grad) - ctx.batch.num_nodes, None)
            grad_keep = dots_at_edges(grad[last], h[last], ctx.batch)
        if need[0]:
            back = transposed_product
            grad_h = _each(lambda part, weight: back(ctx.batch, weight, part, plus=part), grad, keep, ctx.copies)
        return grad_h, grad_keep, grad_w1, grad_b1, grad_w2, grad_b2, grad_gamma, grad_beta, None, None, None, None


def _each(product: Any, x: Tensor, keep: Tensor | None, copies: int) -> Tensor:
    """Apply a product to each copy: plain for the earlier ones, weighted for the last."""
    if copies == 1:
        result: Tensor = product(x, keep)
        return result
    *plain, last = x.chunk(copies)
    return torch.cat([*(product(part, None) for part in plain), product(last, keep)])


def _normalise(
    before: Tensor, gamma: Tensor, beta: Tensor, norm: NodeNorm, copies: int
) -> tuple[Tensor, list[tuple[Tensor, Tensor]]]:
    """Normalise each copy by its own statistics, which are returned for the backward pass."""
    running = (norm.running_mean, norm.running_var)
    results = [
        torch.native_batch_norm(part, gamma, beta, *running, True, norm.momentum or 0.0, norm.eps)
        for part in before.chunk(copies)
    ]
    out = results[0][0] if copies == 1 else torch.cat([r[0] for r in results])
    return out, [(r[1], r[2]) for r in results]


def _normalise_backward(ctx: Any, grad: Tensor, before: Tensor, gamma: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    wanted = [True, True, True]
    parts = [
        _native.native_batch_norm_backward(g, b, gamma, None, None, *moments, True, ctx.eps, wanted)
        for g, b, moments in zip(grad.chunk(ctx.copies), before.chunk(ctx.copies), ctx.moments)
    ]
    if len(parts) == 1:
        first: tuple[Tensor, Tensor, Tensor] = parts[0]
        return first
    return torch.cat([p[0] for p in parts]), parts[0][1] + parts[1][1], parts[0][2] + parts[1][2]


def _unfolded(
    grad: Tensor, hidden: Tensor, w2: Tensor, shift: Tensor, scale: Tensor, fixed: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Gradients of the second layer and of the normalisation folded into it.

    The folded layer is `out = scale * (W2 hidden + b2 - running_mean) + beta` with `scale = gamma * fixed`; `w2` comes
    already multiplied by `scale`, and `shift = scale * (b2 - running_mean)`.
    """
    by_output = grad.t() @ hidden
    grad_beta = grad.sum(0)
    grad_gamma = ((by_output * w2).sum(1) + grad_beta * shift) / scale * fixed
    return by_output * scale.unsqueeze(1), grad_beta * scale, grad_gamma, grad_beta
