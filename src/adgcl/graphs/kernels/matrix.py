"""The adjacency of a batch as a sparse matrix, for functions whose backward pass is written by hand.

The backward of `A x` needs the transpose (for free where every edge has an opposite) and, for the weights, a product
sampled at the edges.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from adgcl.graphs.kernels.compiled import addresses, compiled, compiles, floats, ints
from adgcl.graphs.store.batch import GraphBatch

# Devices whose torch build has embedding bags; elsewhere (MPS) the same sums are gathered and scattered.
_BAG_DEVICES = ("cpu", "cuda")


def rows(values: Tensor, index: Tensor) -> Tensor:
    """`values[index]`, by the kernel that is five times faster than indexing."""
    return values.index_select(0, index)


def weighted_rows(x: Tensor, start: Tensor, index: Tensor, weight: Tensor | None = None) -> Tensor:
    """`out[i] = sum over k of weight[k] * x[index[k]]`, k running from `start[i]` to `start[i + 1]` or the end.

    Without autograd. The weights are 1 where none are given. It is what torch calls an embedding bag, whose kernel
    takes half the time of a CSR product.
    """
    if x.device.type in _BAG_DEVICES:
        out: Tensor = torch._embedding_bag_forward_only(x, index, start, False, 0, False, weight)[0]
        return out
    taken = rows(x, index) if weight is None else rows(x, index) * weight.unsqueeze(1)
    ends = torch.cat((start[1:], start.new_tensor([len(index)])))
    owner = torch.repeat_interleave(torch.arange(len(start), device=x.device), ends - start)
    return taken.new_zeros(len(start), x.shape[1]).index_add_(0, owner, taken)


def dots_at_edges(grads: Sequence[Tensor], xs: Sequence[Tensor], batch: GraphBatch) -> Tensor:
    """`<grad[target(e)], x[source(e)]>` for every edge e, summed over pairs of `grads` and `xs`."""
    if not compiles(*grads, *xs):
        total: Tensor = sum((rows(g, batch.target) * rows(x, batch.col)).sum(1) for g, x in zip(grads, xs))  # type: ignore[assignment]
        return total
    dots = torch.zeros(batch.num_edges)
    for grad, x in zip(grads, xs):
        grad, x = grad.contiguous(), x.contiguous()
        _add_dots(*addresses(grad, x, batch.crow, batch.col), *x.shape, dots.data_ptr())
    return dots


class LoopedAdjacency:
    """`I + A` of several copies of a batch, one for each of `keeps`, the weights of its edges; None keeps every edge.

    The rows of the copies stand one copy after another.
    """

    def __init__(self, batch: GraphBatch, keeps: Sequence[Tensor | None]) -> None:
        self.batch, self.keeps = batch, [None if keep is None else keep.contiguous() for keep in keeps]

    def times(self, x: Tensor) -> Tensor:
        """`x + A x`, each copy with its own weights."""
        return _looped_sums(x, self.batch.crow, self.batch.col, self.keeps)

    def transposed_times(self, grad: Tensor) -> Tensor:
        """`grad + A^T grad`: the gradient of `x`, given that of `x + A x`."""
        crow, col, _ = self.batch.transposed
        return _looped_sums(grad, crow, col, self._transposed_keeps)

    @cached_property
    def _transposed_keeps(self) -> list[Tensor | None]:
        position = self.batch.transposed[2]
        return [None if keep is None else rows(keep, position) for keep in self.keeps]


def _looped_sums(x: Tensor, crow: Tensor, col: Tensor, keeps: Sequence[Tensor | None]) -> Tensor:
    parts = x.chunk(len(keeps)) if len(keeps) > 1 else (x,)
    if not compiles(x, *keeps):
        return torch.cat([weighted_rows(part, crow[:-1], col, keep).add_(part) for part, keep in zip(parts, keeps)])
    x = x.contiguous()
    out = torch.empty_like(x)
    size = x.element_size() * x.numel() // len(keeps)
    for copy, keep in enumerate(keeps):
        places = x.data_ptr() + copy * size, out.data_ptr() + copy * size
        _add_neighbours(*places, *addresses(crow, col, keep), len(crow) - 1, x.shape[1])
    return out


@compiled
def _add_neighbours(
    x_at: int, out_at: int, crow_at: int, col_at: int, keep_at: int, num_nodes: int, width: int
) -> None:
    x, out, crow = floats(x_at, (num_nodes, width)), floats(out_at, (num_nodes, width)), ints(crow_at, (num_nodes + 1,))
    col, keep = ints(col_at, (crow[num_nodes],)), floats(keep_at, (crow[num_nodes],))
    for i in range(num_nodes):
        for j in range(width):
            out[i, j] = x[i, j]
        for e in range(crow[i], crow[i + 1]):
            source: Any = np.uint64(col[e])
            if keep_at:
                weight = keep[e]
                for j in range(width):
                    out[i, j] += weight * x[source, j]
            else:
                for j in range(width):
                    out[i, j] += x[source, j]


@compiled
def _add_dots(grad_at: int, x_at: int, crow_at: int, col_at: int, num_nodes: int, width: int, dots_at: int) -> None:
    grad, x = floats(grad_at, (num_nodes, width)), floats(x_at, (num_nodes, width))
    crow = ints(crow_at, (num_nodes + 1,))
    col, dots = ints(col_at, (crow[num_nodes],)), floats(dots_at, (crow[num_nodes],))
    for i in range(num_nodes):
        for e in range(crow[i], crow[i + 1]):
            source: Any = np.uint64(col[e])
            dot = np.float32(0)
            for j in range(width):
                dot += grad[i, j] * x[source, j]
            dots[e] += dot
