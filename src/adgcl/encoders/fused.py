"""Consecutive GIN layers as one autograd function: the same arithmetic with a fraction of the overhead.

At the paper's width (32) a step spends most of its time between kernels, not in them. Written out by hand, a layer is
half a dozen kernel calls forward and a dozen backward, the sparse matrix is built once for all layers, and nothing is
computed for inputs that need no gradient.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from adgcl.encoders.norm import NodeNorm
from adgcl.graphs.batch import GraphBatch
from adgcl.graphs.ops import Adjacency

_native = torch.ops.aten
_PARAMETERS = 5  # of a layer: first weight and bias, second weight, the normalisation's scale and shift


class LayerPlan(NamedTuple):
    """What a layer does besides its parameters: how it normalises, and whether a relu comes last."""

    norm: NodeNorm
    relu: bool


class FusedGIN(torch.autograd.Function):
    """`h <- relu(norm(W2 relu(W1 (h + A h) + b1)))`, layer after layer; returns every layer's `h`.

    `h` holds one or more copies of the batch's nodes, one copy after another; `keep` weighs the edges of the last
    copy, all edges of earlier ones count 1.
    """

    @staticmethod
    def forward(
        ctx: Any,
        h: Tensor,
        keep: Tensor | None,
        batch: GraphBatch,
        copies: int,
        plan: tuple[LayerPlan, ...],
        *weights: Tensor,
    ) -> tuple[Tensor, ...]:
        adjacency = Adjacency(batch, keep, copies)
        states: list[Tensor] = []
        notes: list[tuple[Any, ...]] = []
        before: Any
        moments: Any
        fixed = plan[0].norm.uses_running(len(h) // copies)
        for i, (norm, relu) in enumerate(plan):
            w1, b1, w2, gamma, beta = weights[_PARAMETERS * i : _PARAMETERS * (i + 1)]
            summed = adjacency.times(h, h)
            hidden = torch.addmm(b1, summed, w1.t()).relu_()
            if fixed:
                out, w2, before, moments = *_folded(hidden, w2, gamma, beta, norm), None
            else:
                before = hidden @ w2.t()
                out, moments = _normalise(before, gamma, beta, norm, copies)
            if relu:
                out.relu_()
            states.append(out)
            # An alias without history: keeping the output itself would tie a knot that is freed late.
            kept = out.detach()
            notes.append((h, w1, w2, gamma, summed, hidden, before, moments, kept if relu else None))
            h = kept
        ctx.adjacency, ctx.notes, ctx.plan, ctx.keep = adjacency, notes, plan, keep
        ctx.set_materialize_grads(False)
        return tuple(states)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor | None) -> tuple[Tensor | None, ...]:
        need_h, need_keep, _, _, _, *need = ctx.needs_input_grad
        results: list[Tensor | None] = [None] * len(need)
        grad_keep: Tensor | None = None
        grad: Tensor | None = None
        for i in reversed(range(len(ctx.plan))):
            grad = _plus(grad, grads[i])
            if grad is None:
                continue
            first = _PARAMETERS * i
            wants = need[first : first + _PARAMETERS]
            inward = i > 0 or need_h
            summed_grad, of_layer = _layer_backward(ctx, i, grad, wants[0], inward or need_keep)
            results[first : first + _PARAMETERS] = of_layer
            if need_keep:
                grad_keep = _plus(grad_keep, ctx.adjacency.grad_of_keep(summed_grad, ctx.notes[i][0]))
            grad = ctx.adjacency.transposed_times(summed_grad, plus=summed_grad) if inward else None
        return grad, grad_keep, None, None, None, *results


def _layer_backward(
    ctx: Any, i: int, grad: Tensor, weights: bool, inward: bool
) -> tuple[Tensor | None, list[Tensor | None]]:
    """The gradient of one layer's neighbour sums, and of its parameters where they are wanted."""
    _, w1, w2, gamma, summed, hidden, before, moments, out = ctx.notes[i]
    of_layer: list[Tensor | None] = [None] * _PARAMETERS
    grad = grad.contiguous() if out is None else _native.threshold_backward(grad, out, 0)
    if moments is None:
        if weights:
            of_layer[2:] = _unfolded(grad, hidden, w2, *before)
    else:
        grad, of_layer[3], of_layer[4] = _normalise_backward(grad, before, gamma, moments, ctx.plan[i].norm.eps)
        if weights:
            of_layer[2] = grad.t() @ hidden
    grad = _native.threshold_backward(grad @ w2, hidden, 0)
    if weights:
        of_layer[0], of_layer[1] = grad.t() @ summed, grad.sum(0)
    return (grad @ w1 if inward else None), of_layer


def _plus(a: Tensor | None, b: Tensor | None) -> Tensor | None:
    if a is None or b is None:
        return b if a is None else a
    return a + b


def _normalise(
    before: Tensor, gamma: Tensor, beta: Tensor, norm: NodeNorm, copies: int
) -> tuple[Tensor, list[tuple[Tensor, Tensor]]]:
    """Normalise each copy by its own statistics, which are returned for the backward pass."""
    running_mean, running_var = norm._buffers["running_mean"], norm._buffers["running_var"]
    results = [
        torch.native_batch_norm(part, gamma, beta, running_mean, running_var, True, norm.momentum or 0.0, norm.eps)
        for part in ((before,) if copies == 1 else before.chunk(copies))
    ]
    out = results[0][0] if copies == 1 else torch.cat([r[0] for r in results])
    return out, [(r[1], r[2]) for r in results]


def _normalise_backward(
    grad: Tensor, before: Tensor, gamma: Tensor, moments: list[tuple[Tensor, Tensor]], eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    back, wanted = _native.native_batch_norm_backward, [True, True, True]
    if len(moments) == 1:
        only: tuple[Tensor, Tensor, Tensor] = back(grad, before, gamma, None, None, *moments[0], True, eps, wanted)
        return only
    pieces = zip(grad.chunk(len(moments)), before.chunk(len(moments)), moments)
    parts = [back(g, b, gamma, None, None, *m, True, eps, wanted) for g, b, m in pieces]
    grads, of_gamma, of_beta = zip(*parts)
    return torch.cat(grads), torch.stack(of_gamma).sum(0), torch.stack(of_beta).sum(0)


def _folded(
    hidden: Tensor, w2: Tensor, gamma: Tensor, beta: Tensor, norm: NodeNorm
) -> tuple[Tensor, Tensor, tuple[Tensor, Tensor, Tensor]]:
    """Normalising by fixed statistics is an affine map, so it folds into the second linear layer."""
    assert norm.running_mean is not None and norm.running_var is not None
    fixed = torch.rsqrt(norm.running_var + norm.eps)
    scale = gamma * fixed
    shift = norm.running_mean * -scale
    w2 = w2 * scale.unsqueeze(1)
    return torch.addmm(shift + beta, hidden, w2.t()), w2, (shift, scale, fixed)


def _unfolded(
    grad: Tensor, hidden: Tensor, w2: Tensor, shift: Tensor, scale: Tensor, fixed: Tensor
) -> list[Tensor | None]:
    """Gradients of the second layer and of the normalisation folded into it.

    The folded layer is `out = scale * (W2 hidden - running_mean) + beta` with `scale = gamma * fixed`; `w2` comes
    already multiplied by `scale`, and `shift = -scale * running_mean`.
    """
    by_output = grad.t() @ hidden
    grad_beta = grad.sum(0)
    grad_gamma = ((by_output * w2).sum(1) + grad_beta * shift) / scale * fixed
    return [by_output * scale.unsqueeze(1), grad_gamma, grad_beta]
