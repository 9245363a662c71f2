"""Fixed augmentations: Views drawn uniformly at random, with exact counts in every graph."""

from __future__ import annotations

import torch
from pydantic import Field
from torch import Tensor

from adgcl.augmentations.base import Augmentation, Augmented
from adgcl.core.config import Config
from adgcl.core.ranges import searched
from adgcl.core.registry import Registry
from adgcl.graphs.kernels.ops import rows
from adgcl.graphs.store.batch import GraphBatch
from adgcl.graphs.store.view import View


class RandomConfig(Config):
    """How much fixed augmentations change."""

    ratio: float = Field(
        0.1,
        ge=0.0,
        lt=1.0,
        description="share of nodes dropped, edges perturbed or nodes masked",
        json_schema_extra=searched(0.05, 0.4),
    )
    subgraph_ratio: float = Field(0.2, gt=0.0, le=1.0, description="share of nodes that a subgraph keeps")
    star_subgraph: bool = Field(
        False, description="the authors' subgraph, which never leaves the neighbours of its first node"
    )
    tied: bool = Field(False, description="drop or add both directions of an edge together")


class RandomAugmentation(Augmentation):
    """An augmentation without parameters that changes an exact share of each chosen graph."""

    def __init__(self, config: RandomConfig) -> None:
        super().__init__()
        self.config = config

    def view(self, batch: GraphBatch, chosen: Tensor, generator: torch.Generator) -> View:
        """A View that changes the graphs marked in `chosen [graphs]` and leaves all others alone."""
        raise TypeError(f"{type(self).__name__} must define view")

    def forward(self, batch: GraphBatch, generator: torch.Generator) -> Augmented:
        everything = torch.ones(batch.num_graphs, dtype=torch.bool, device=batch.device)
        view = self.view(batch, everything, generator)
        return Augmented(view, edges_gone(view, batch))


# Separate from the learnable augmentations, which are built differently.
FIXED: Registry[type[RandomAugmentation]] = Registry("fixed augmentation", "adgcl.augmentations")


def share(counts: Tensor, ratio: float, chosen: Tensor) -> Tensor:
    """`floor(ratio * counts)` for the chosen graphs and 0 for the others."""
    # The same as Python's product on every device: in 32 bits some products would round up to the next integer.
    exact = (counts.cpu().double() * ratio).floor().long()
    return exact.to(counts.device) * chosen


def drawn_nodes(batch: GraphBatch, counts: Tensor, generator: torch.Generator) -> Tensor:
    """Mark exactly `counts[g]` nodes of each graph g; every subset is equally likely."""
    return smallest(batch.drawn("nodes", lambda count: whole_numbers(count, generator)), batch.batch, counts)


def drawn_edges(batch: GraphBatch, counts: Tensor, generator: torch.Generator) -> Tensor:
    """The same for edges."""
    return smallest(batch.drawn("edges", lambda count: whole_numbers(count, generator)), edge_owner(batch), counts)


def smallest(keys: Tensor, owner: Tensor, counts: Tensor) -> Tensor:
    """Mark, in each graph g, the `counts[g]` items with the smallest `keys`, whole numbers from 0 to 2^31 - 1.

    `owner` says which graph an item belongs to; items are ordered by graph. One sort serves all graphs: it keeps graphs
    in place, because the graph number is the upper half of each sort key.
    """
    order = torch.argsort((owner << 32) + keys)
    per_graph = torch.bincount(owner, minlength=len(counts))
    first = per_graph.cumsum(0) - per_graph
    rank = torch.arange(len(keys), device=keys.device) - rows(first, owner)
    return torch.empty_like(owner, dtype=torch.bool).scatter_(0, order, rank < rows(counts, owner))


def whole_numbers(count: int, generator: torch.Generator) -> Tensor:
    """Uniform from 0 to 2^31 - 1; the remainder modulo a small number is practically uniform too."""
    return torch.randint(1 << 31, (count,), generator=generator, device=generator.device)


def edge_owner(batch: GraphBatch) -> Tensor:
    """The graph of every edge."""
    return rows(batch.batch, batch.target)


def edges_gone(view: View, batch: GraphBatch) -> Tensor:
    """The share of edges a View removes, directly or with one of their ends: mean over the graphs that have edges."""
    keep = batch.ones if view.edge_keep is None else view.edge_keep
    if view.node_keep is not None:
        keep = keep * rows(view.node_keep, batch.col) * rows(view.node_keep, batch.target)
    return torch.dot(1 - keep, batch.edge_share)
