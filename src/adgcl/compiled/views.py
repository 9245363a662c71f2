"""What an encoder sees of a View whose weights are 0 or 1: a smaller batch, with the edges that were added."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import torch
from torch import Tensor, nn

from adgcl.compiled.networks import Places
from adgcl.graphs.kernels.induced import ends, induced
from adgcl.graphs.kernels.ops import rows
from adgcl.graphs.store.batch import GraphBatch
from adgcl.graphs.store.view import AddedEdges, View


class Seen(NamedTuple):
    """A batch in memory, the weights of its edges, and how much of the mask is in each node's first sum, if any is."""

    places: Places
    edge_keep: Tensor | None
    masked: Tensor | None


def see(batch: GraphBatch, view: View, inputs: nn.Module) -> Seen:
    """The batch that is left of a View, with the rows that `inputs` make of its nodes."""
    left, rest = induced(batch, view)
    edge_keep = rest.edge_keep
    if rest.added is not None:
        left, edge_keep = _with_added(left, edge_keep, rest.added)
    places = Places(left, inputs(left, rest.feature_keep))
    if rest.feature_keep is None:
        return Seen(places, edge_keep, None)
    hidden = 1.0 - rest.feature_keep
    messages = rows(hidden, left.col)
    messages = messages if edge_keep is None else messages * edge_keep
    return Seen(places, edge_keep, hidden.index_add(0, left.target, messages))


def _with_added(batch: GraphBatch, edge_keep: Tensor | None, added: AddedEdges) -> tuple[GraphBatch, Tensor]:
    """The added edges among the others, and the weights of all; features of edges and opposite edges are left out."""
    target = torch.cat((batch.target, added.target))
    order = torch.argsort(target, stable=True)
    target = rows(target, order)
    whole = replace(
        batch,
        edge_ptr=ends(rows(batch.batch, target), batch.num_graphs),
        crow=ends(target, batch.num_nodes),
        col=rows(torch.cat((batch.col, added.source)), order),
        target=target,
        reverse=None,
        edge_attr=None,
        edge_num=None,
    )
    keep = torch.cat((batch.ones if edge_keep is None else edge_keep, added.keep))
    return whole, rows(keep, order)
