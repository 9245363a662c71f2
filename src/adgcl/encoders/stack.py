"""Stack: the weights of several Views of one batch, laid out as the layers of an Encoder need them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor

from adgcl.graphs.kernels.ops import rows
from adgcl.graphs.store.batch import GraphBatch
from adgcl.graphs.store.view import AddedEdges, View

# One entry per copy of the batch that goes through a layer; None where its View leaves such weights unchanged.
Keeps = tuple[Tensor | None, ...]


@dataclass(frozen=True)
class Stack:
    """One copy of the batch for each View, one after another.

    A node's weight is already in the weights of the edges that leave it, so a layer needs `node_keeps` only for the
    statistics of its normalisation. The ends of `added` are rows of the stack.
    """

    edge_keeps: Keeps
    node_keeps: Keeps
    added: AddedEdges | None = None

    @property
    def copies(self) -> int:
        return len(self.edge_keeps)

    @property
    def last_edges_only(self) -> bool:
        """Whether edge weights of the last copy are all there is: the case that fused layers are written for."""
        return self.added is None and self.node_keep is None and all(keep is None for keep in self.edge_keeps[:-1])

    @cached_property
    def node_keep(self) -> Tensor | None:
        """The weights of all rows, or None if no View weights nodes."""
        weighted = next((keep for keep in self.node_keeps if keep is not None), None)
        if weighted is None or len(self.node_keeps) == 1:
            return weighted
        return torch.cat([torch.ones_like(weighted) if keep is None else keep for keep in self.node_keeps])


def stack_views(batch: GraphBatch, views: Sequence[View]) -> Stack:
    """Lay out the Views of `batch`, and weight every message by the node that sends it."""
    edge_keeps = tuple(_edge_keep(batch, view) for view in views)
    added = [_added(view.added, view.node_keep, i * batch.num_nodes) for i, view in enumerate(views) if view.added]
    return Stack(edge_keeps, tuple(view.node_keep for view in views), _joined(added))


def _edge_keep(batch: GraphBatch, view: View) -> Tensor | None:
    if view.node_keep is None:
        return view.edge_keep
    by_source = rows(view.node_keep, batch.col)
    return by_source if view.edge_keep is None else by_source * view.edge_keep


def _added(added: AddedEdges, node_keep: Tensor | None, shift: int) -> AddedEdges:
    keep = added.keep if node_keep is None else added.keep * rows(node_keep, added.source)
    return AddedEdges(added.source + shift, added.target + shift, keep) if shift else replace(added, keep=keep)


def _joined(parts: list[AddedEdges]) -> AddedEdges | None:
    if len(parts) < 2:
        return parts[0] if parts else None
    return AddedEdges(*(torch.cat(column) for column in zip(*((p.source, p.target, p.keep) for p in parts))))
