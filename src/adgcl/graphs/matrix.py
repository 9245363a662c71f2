"""The adjacency of a batch as a sparse matrix, for functions whose backward pass is written by hand.

`A x` is a weighted sum of rows of `x` for every row of A: what torch calls an embedding bag, whose kernel takes half
the time of a CSR product. Its backward needs the transpose (for free where every edge has an opposite) and, for the
weights, a product sampled at the edges.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cached_property

import torch
from torch import Tensor

from adgcl.graphs.batch import GraphBatch, Looped

# Devices whose torch build has the kernels; elsewhere (MPS) the same sums are gathered and scattered.
_KERNEL_DEVICES = ("cpu", "cuda")
warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta state")


def weighted_rows(x: Tensor, start: Tensor, index: Tensor, weight: Tensor | None = None) -> Tensor:
    """`out[i] = sum over k of weight[k] * x[index[k]]`, k running from `start[i]` to `start[i + 1]` or the end.

    Without autograd. The weights are 1 where none are given.
    """
    if x.device.type in _KERNEL_DEVICES:
        out: Tensor = torch._embedding_bag_forward_only(x, index, start, False, 0, False, weight)[0]
        return out
    taken = rows(x, index) if weight is None else rows(x, index) * weight.unsqueeze(1)
    ends = torch.cat((start[1:], start.new_tensor([len(index)])))
    owner = torch.repeat_interleave(torch.arange(len(start), device=x.device), ends - start)
    return taken.new_zeros(len(start), x.shape[1]).index_add_(0, owner, taken)


def dots_at_edges(grad: Tensor, x: Tensor, batch: GraphBatch) -> Tensor:
    """`<grad[target(e)], x[source(e)]>` for every edge, without forming either gathered matrix."""
    if batch.device.type not in _KERNEL_DEVICES or not batch.num_edges:
        return (rows(grad, batch.target) * rows(x, batch.col)).sum(1)
    zeros = torch.zeros(batch.num_edges, dtype=grad.dtype, device=batch.device)
    shape = (batch.num_nodes, batch.num_nodes)
    pattern = torch.sparse_csr_tensor(batch.crow, batch.col, zeros, shape, check_invariants=False)
    return torch.sparse.sampled_addmm(pattern, grad, x.t(), beta=0.0).values()


def rows(values: Tensor, index: Tensor) -> Tensor:
    """`values[index]`, by the kernel that is five times faster than indexing."""
    return values.index_select(0, index)


class LoopedAdjacency:
    """`I + A` of several copies of a batch, one for each of `keeps`, the weights of its edges; None keeps every edge.

    The rows of the copies stand one copy after another. Each index is built once, however many layers use it.
    """

    def __init__(self, batch: GraphBatch, keeps: Sequence[Tensor | None]) -> None:
        self.batch, self.keeps = batch, keeps

    def times(self, x: Tensor) -> Tensor:
        """`x + A x`, each copy with its own weights."""
        return weighted_rows(x, *self._forward)

    def transposed_times(self, grad: Tensor) -> Tensor:
        """`grad + A^T grad`: the gradient of `x`, given that of `x + A x`."""
        return weighted_rows(grad, *self._backward)

    @cached_property
    def _forward(self) -> tuple[Tensor, Tensor, Tensor | None]:
        looped = self.batch.looped
        return *looped.stacked(len(self.keeps)), self._weights(looped, self.keeps)

    @cached_property
    def _backward(self) -> tuple[Tensor, Tensor, Tensor | None]:
        looped, position = self.batch.looped_transposed, self.batch.transposed[2]
        keeps = [None if keep is None else rows(keep, position) for keep in self.keeps]
        return *looped.stacked(len(keeps)), self._weights(looped, keeps)

    def _weights(self, looped: Looped, keeps: Sequence[Tensor | None]) -> Tensor | None:
        """1 for the loops, and the edges' weights at their places."""
        given = [keep for keep in keeps if keep is not None]
        if not given:
            return None
        weights = given[0].new_ones(len(keeps) * len(looped.source))
        for c, keep in enumerate(keeps):
            if keep is not None:
                place = looped.place + c * len(looped.source) if c else looped.place
                weights.index_copy_(0, place, keep)
        return weights
