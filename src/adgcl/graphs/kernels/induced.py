"""Induced subgraphs: a batch without the nodes that a View removes."""

from __future__ import annotations

import torch
from torch import Tensor

from adgcl.graphs.kernels.ops import rows
from adgcl.graphs.store.batch import GraphBatch
from adgcl.graphs.store.view import AddedEdges, View


def induced(batch: GraphBatch, view: View) -> tuple[GraphBatch, View]:
    """The nodes that `view` keeps and the edges between them, and what else the View says about those.

    For a View whose node weights are 0 or 1: the smaller batch is equivalent and costs less to embed. Every graph must
    keep a node.
    """
    if view.node_keep is None:
        return batch, view
    kept = view.node_keep > 0
    nodes, place = _kept(kept)
    between = rows(kept, batch.col) & rows(kept, batch.target)
    edges, edge_place = _kept(between)
    owner, target = rows(batch.batch, nodes), rows(place, rows(batch.target, edges))
    smaller = GraphBatch(
        node_ptr=ends(owner, batch.num_graphs),
        edge_ptr=ends(rows(owner, target), batch.num_graphs),
        batch=owner,
        crow=ends(target, len(nodes)),
        col=rows(place, rows(batch.col, edges)),
        target=target,
        # An edge stays together with its reverse: they have the same ends.
        reverse=None if batch.reverse is None else rows(edge_place, rows(batch.reverse, edges)),
        x=_taken(batch.x, nodes),
        x_num=_taken(batch.x_num, nodes),
        edge_attr=_taken(batch.edge_attr, edges),
        edge_num=_taken(batch.edge_num, edges),
        y=batch.y,
    )
    added = None if view.added is None else _added(view.added, kept, place)
    return smaller, View(_taken(view.edge_keep, edges), None, _taken(view.feature_keep, nodes), added)


def _kept(mask: Tensor) -> tuple[Tensor, Tensor]:
    """The places where `mask` is true, and for each of them which it is."""
    return mask.nonzero().squeeze(1), mask.cumsum(0) - 1


def ends(owner: Tensor, groups: int) -> Tensor:
    """Where the items of each group start, if the groups stand one after another; the total comes last."""
    counts = torch.bincount(owner, minlength=groups)
    return torch.cat((counts.new_zeros(1), counts.cumsum(0)))


def _taken(values: Tensor | None, index: Tensor) -> Tensor | None:
    return None if values is None else rows(values, index)


def _added(added: AddedEdges, kept: Tensor, place: Tensor) -> AddedEdges:
    joins = (rows(kept, added.source) & rows(kept, added.target)).nonzero().squeeze(1)
    source, target = (rows(place, rows(end, joins)) for end in (added.source, added.target))
    return AddedEdges(source, target, rows(added.keep, joins))
