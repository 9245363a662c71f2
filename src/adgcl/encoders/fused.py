"""Consecutive GIN layers as one autograd function: the same arithmetic with a fraction of the overhead.

At the paper's width (32) a step spends most of its time between kernels, not in them. Written out by hand, a layer is
half a dozen kernel calls forward and a dozen backward. Small quantities are computed for all layers at once, and
nothing is computed or kept for inputs that need no gradient.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from adgcl.encoders.fused_norm import FixedNorms, OwnNorms
from adgcl.encoders.norm import NodeNorm
from adgcl.encoders.relu_loops import masked
from adgcl.graphs.kernels.matrix import LoopedAdjacency, dots_at_edges
from adgcl.graphs.store.batch import GraphBatch

_PARAMETERS = 5  # of a layer: first weight and bias, second weight, the normalisation's scale and shift


class Plan(NamedTuple):
    """How the layers compute, apart from their parameters; `every`: return all states, not only the last."""

    norms: tuple[NodeNorm, ...]
    relus: tuple[bool, ...]
    every: bool


class Note(NamedTuple):
    """What the backward pass of a layer needs."""

    h: Tensor
    summed: Tensor | None
    hidden: Tensor
    normed: Any
    out: Tensor


def gin_states(
    h: Tensor, keeps: tuple[Tensor | None, ...], batch: GraphBatch, plan: Plan, weights: list[Tensor]
) -> tuple[Tensor, ...]:
    """`h <- relu(norm(W2 relu(W1 (h + A h) + b1)))`, layer after layer: every layer's `h`, or the last.

    `h` holds one copy of the batch's nodes for each entry of `keeps` (that copy's edge weights), one after another.
    """
    inputs = (h, *keeps, *weights)
    if torch.is_grad_enabled() and any(t is not None and t.requires_grad for t in inputs):
        states: tuple[Tensor, ...] = _FusedGIN.apply(batch, plan, len(keeps), *inputs)
        return states
    return _run(h, LoopedAdjacency(batch, keeps), plan, weights, None)[0]


def _run(
    h: Tensor, adjacency: LoopedAdjacency, plan: Plan, weights: Any, notes: list[Note] | None, learning: bool = False
) -> tuple[tuple[Tensor, ...], FixedNorms | OwnNorms]:
    """All layers; whatever a backward pass needs is put into `notes`."""
    copies, layers = len(adjacency.keeps), range(len(plan.norms))
    first, bias, second, gamma, beta = (weights[i::_PARAMETERS] for i in range(_PARAMETERS))
    kind = FixedNorms if plan.norms[0].uses_running(len(h) // copies) else OwnNorms
    norms = kind(plan.norms, second, gamma, beta, copies)
    states = []
    for i in layers:
        note = _layer(i, h, adjacency, first[i], bias[i], norms, plan.relus[i])
        h = note.out
        if plan.every or i == layers[-1]:
            states.append(h)
            # An alias without history: keeping the output itself would create a reference cycle that is freed late.
            note = note._replace(out=h.detach())
        if notes is not None:
            notes.append(note if learning else note._replace(summed=None))
    return tuple(states), norms


def _layer(
    i: int, h: Tensor, adjacency: LoopedAdjacency, first: Tensor, bias: Tensor, norms: FixedNorms | OwnNorms, relu: bool
) -> Note:
    summed = adjacency.times(h)
    hidden = F.linear(summed, first, bias).relu_()
    out, normed = norms.forward(i, hidden, relu)
    return Note(h, summed, hidden, normed, out)


class _FusedGIN(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, batch: GraphBatch, plan: Plan, copies: int, h: Tensor, *rest: Tensor) -> tuple[Tensor, ...]:
        ctx.adjacency, ctx.plan, ctx.weights, ctx.notes = LoopedAdjacency(batch, rest[:copies]), plan, rest[copies:], []
        ctx.learning = any(ctx.needs_input_grad[4 + copies :])
        states, ctx.norms = _run(h, ctx.adjacency, plan, ctx.weights, ctx.notes, ctx.learning)
        ctx.set_materialize_grads(False)
        return states

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor | None) -> tuple[Tensor | None, ...]:
        copies, count = len(ctx.adjacency.keeps), len(ctx.plan.norms)
        _, _, _, need_h, *need = ctx.needs_input_grad
        need_keep, need_weights = need[:copies], need[copies:]
        if not need_h and not ctx.learning:
            grads = _without_first(ctx, grads, need_keep.index(True))
        results: list[Any] = [None] * len(need_weights)
        at_sums: list[Tensor] = []
        grad: Tensor | None = None
        for i in reversed(range(count)):
            grad = _plus(grad, _incoming(grads, i, count))
            if grad is None:
                continue
            mine = slice(_PARAMETERS * i, _PARAMETERS * (i + 1))
            grad = _layer_backward(ctx, i, grad, results if any(need_weights[mine]) else None)
            inward = i > 0 or need_h
            if any(need_keep) or inward:
                grad = grad @ ctx.weights[_PARAMETERS * i]
                at_sums.append(grad)
            grad = ctx.adjacency.transposed_times(grad) if inward else None
        of_keeps = [_grad_of_keep(ctx, at_sums, c - copies) if needed else None for c, needed in enumerate(need_keep)]
        return None, None, None, grad, *of_keeps, *results


def _without_first(ctx: Any, grads: tuple[Tensor | None, ...], count: int) -> tuple[Tensor | None, ...]:
    """Skip the first copies if nothing about them needs a gradient: copies do not interact before the loss."""
    if count == 0 or not isinstance(ctx.norms, FixedNorms):
        return grads
    first = count * ctx.adjacency.batch.num_nodes
    ctx.adjacency = LoopedAdjacency(ctx.adjacency.batch, ctx.adjacency.keeps[count:])
    ctx.notes = [Note(note.h[first:], None, note.hidden[first:], None, note.out[first:]) for note in ctx.notes]
    return tuple(None if grad is None else grad[first:] for grad in grads)


def _layer_backward(ctx: Any, i: int, grad: Tensor, results: list[Tensor | None] | None) -> Tensor:
    """The gradient of a layer's inner sums `W1 (h + A h) + b1`; those of its parameters are put into `results`."""
    note: Note = ctx.notes[i]
    out = note.out if ctx.plan.relus[i] else None
    grad, *of_norm = ctx.norms.backward(i, grad, out, note.hidden, note.normed, results is not None)
    of_bias = masked(grad, note.hidden, grad)
    if results is not None:
        assert note.summed is not None
        first = _PARAMETERS * i
        results[first : first + _PARAMETERS] = grad.t() @ note.summed, of_bias, *of_norm
    return grad


def _grad_of_keep(ctx: Any, at_sums: list[Tensor], copy: int) -> Tensor:
    """The gradient of one copy's edge weights, to which every layer adds."""
    batch: GraphBatch = ctx.adjacency.batch
    notes: list[Note] = ctx.notes[: len(at_sums)]
    inputs, grads = [note.h for note in notes], at_sums[::-1]
    if len(inputs[0]) > batch.num_nodes:
        last = copy + len(ctx.adjacency.keeps)
        nodes = slice(last * batch.num_nodes, (last + 1) * batch.num_nodes)
        inputs, grads = [h[nodes] for h in inputs], [grad[nodes] for grad in grads]
    return dots_at_edges(grads, inputs, batch)


def _incoming(grads: tuple[Tensor | None, ...], i: int, count: int) -> Tensor | None:
    """The gradient of the state after layer `i`, if that state was returned and used."""
    place = i - count + len(grads)
    grad = grads[place] if place >= 0 else None
    return None if grad is None else grad.contiguous()


def _plus(a: Tensor | None, b: Tensor | None) -> Tensor | None:
    if a is None or b is None:
        return b if a is None else a
    return a + b
