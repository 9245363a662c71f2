"""Fixed augmentations of edges: drop some, or drop some and add as many."""

from __future__ import annotations

import torch
from torch import Tensor

from adgcl.augmentations.random_base import (
    FIXED,
    RandomAugmentation,
    drawn_edges,
    edge_owner,
    share,
    smallest,
    whole_numbers,
)
from adgcl.graphs.kernels.added import are_edges
from adgcl.graphs.kernels.ops import rows
from adgcl.graphs.store.batch import GraphBatch
from adgcl.graphs.store.view import AddedEdges, View


@FIXED.register("random_edge_drop")
class RandomEdgeDrop(RandomAugmentation):
    """Drop exactly `floor(ratio * E)` directed edges of a graph with E of them, uniformly.

    `tied` treats both directions as one edge; graphs with one-way edges have nothing to tie.
    """

    def view(self, batch: GraphBatch, chosen: Tensor, generator: torch.Generator) -> View:
        return View(edge_keep=1.0 - self._dropped(batch, chosen, generator)[0].float())

    def _dropped(self, batch: GraphBatch, chosen: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Which edges are dropped, and how many draws were made in each graph."""
        if not self.config.tied or batch.reverse is None:
            counts = share(batch.edge_counts, self.config.ratio, chosen)
            return drawn_edges(batch, counts, generator), counts
        # The direction that comes first decides for both.
        place = torch.arange(batch.num_edges, device=batch.device)
        first = torch.minimum(place, batch.reverse)
        speaks = (place == first).nonzero().squeeze(1)
        owner = rows(edge_owner(batch), speaks)
        pairs = torch.bincount(owner, minlength=batch.num_graphs)
        counts = share(pairs, self.config.ratio, chosen)
        gone = torch.zeros(batch.num_edges, dtype=torch.bool, device=batch.device)
        gone[speaks] = smallest(whole_numbers(len(owner), batch.own(generator)), owner, counts)
        return rows(gone, first), counts


@FIXED.register("random_edge_perturb")
class RandomEdgePerturb(RandomEdgeDrop):
    """Drop edges as above and connect as many uniformly drawn pairs of nodes.

    A pair that is already an edge, or the same node twice, adds nothing. `tied` adds both directions.

    Deviation: the unsupervised code of GraphCL and JOAO only drops, as `random_edge_drop` does.
    """

    def view(self, batch: GraphBatch, chosen: Tensor, generator: torch.Generator) -> View:
        gone, counts = self._dropped(batch, chosen, generator)
        return View(edge_keep=1.0 - gone.float(), added=self._added(batch, counts, generator))

    def _added(self, batch: GraphBatch, counts: Tensor, generator: torch.Generator) -> AddedEdges | None:
        owner = torch.repeat_interleave(torch.arange(batch.num_graphs, device=batch.device), counts)
        if not len(owner):
            return None
        first, size = rows(batch.node_ptr, owner), rows(batch.node_counts, owner)
        source, target = (first + whole_numbers(len(owner), batch.own(generator)) % size for _ in range(2))
        if self.config.tied:
            source, target = torch.cat((source, target)), torch.cat((target, source))
        new = (source != target) & ~are_edges(batch, source, target)
        return AddedEdges(source, target, new.float())
