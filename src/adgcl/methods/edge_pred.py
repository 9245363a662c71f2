"""EdgePred: nodes that are joined get rows with a large inner product, others do not (Hu et al. 2020)."""

from __future__ import annotations

import torch
from pydantic import Field
from torch import Tensor
from torch.optim import Optimizer

from adgcl.augmentations.random_base import whole_numbers
from adgcl.core.ranges import searched
from adgcl.core.schema import FeatureSpec, Task
from adgcl.encoders.base import EncoderConfig, make_encoder
from adgcl.graphs.kernels.added import are_edges
from adgcl.graphs.kernels.ops import rows
from adgcl.graphs.kernels.undirected import edges_once
from adgcl.graphs.store.batch import GraphBatch
from adgcl.methods.base import METHODS, Method, MethodConfig, Metrics, switch
from adgcl.methods.optimizer import PlayerAdam
from adgcl.objectives.pair_scores import inner_products, pair_loss
from adgcl.parallel.collectives import average_count

# Rounds of draws for non-edges; in each, a graph draws as many pairs as it has directed edges.
_ROUNDS = 5

Pairs = tuple[Tensor, Tensor]


class EdgePredConfig(MethodConfig):
    """Settings of EdgePred."""

    name: str = "edge_pred"
    lr: float = Field(1e-3, gt=0.0, description="learning rate", json_schema_extra=searched(1e-4, 1e-2, log=True))


@METHODS.register("edge_pred")
class EdgePred(Method):
    """`min over encoder of -mean log sigmoid(<h_i, h_j>) over edges - mean log sigmoid(-<h_i, h_j>) over non-edges`.

    Linear layers keep torch's initialisation, as in the authors' code.
    """

    Config = EdgePredConfig
    title = "EdgePred"
    parallel = True
    config: EdgePredConfig

    def __init__(self, config: EdgePredConfig, encoder: EncoderConfig, spec: FeatureSpec, task: Task) -> None:
        super().__init__(config, encoder, spec, task)
        self.encoder = make_encoder(encoder, spec)

    def make_optimizers(self) -> dict[str, Optimizer]:
        return {"encoder": PlayerAdam(self.parameters(), self.config.lr)}

    def step(self, batch: GraphBatch, generator: torch.Generator) -> Metrics:
        edges = edges_once(batch)
        if not average_count(len(edges)):
            # Nothing to learn: neither the normalisation nor Adam's averages may change.
            return {"loss": torch.zeros((), device=batch.device)}
        joined = rows(batch.col, edges), rows(batch.target, edges)
        counts = torch.bincount(rows(batch.batch, joined[0]), minlength=batch.num_graphs)
        apart = draw_non_edges(batch, counts, batch.own(generator))
        switch(self.encoder, training=True)
        node_emb = self.encoder.node_emb(batch)
        positive, negative = (inner_products(*(rows(node_emb, end) for end in pairs)) for pairs in (joined, apart))
        loss = pair_loss(positive, negative)
        self.update(loss, "encoder")
        return {"loss": loss.detach()}


def draw_non_edges(batch: GraphBatch, wanted: Tensor, generator: torch.Generator) -> Pairs:
    """In each graph g the first `wanted[g]` different pairs of different nodes without an edge, drawn uniformly.

    `(a, b)` and `(b, a)` are different pairs. A graph gets at most five draws for each of its directed edges, so one
    that is nearly complete may end with fewer pairs; one that has enough stops drawing.
    """
    found = wanted.new_zeros(0)
    for _ in range(_ROUNDS):
        missing = wanted > torch.bincount(_owner(batch, found), minlength=batch.num_graphs)
        owner = torch.repeat_interleave(batch.edge_counts * missing)
        if not len(owner):
            break
        first, size = rows(batch.node_ptr, owner), rows(batch.node_counts, owner)
        source, target = (first + whole_numbers(len(owner), generator) % size for _ in range(2))
        apart = (source != target) & ~are_edges(batch, source, target)
        drawn = torch.cat((found, source[apart] * batch.num_nodes + target[apart]))
        found = _first_different(drawn, batch, wanted)
    return found // batch.num_nodes, found % batch.num_nodes


def _first_different(pairs: Tensor, batch: GraphBatch, wanted: Tensor) -> Tensor:
    """The first `wanted[g]` different pairs of each graph g, graph after graph, in the order they were drawn."""
    order = torch.argsort(pairs, stable=True)
    ordered = rows(pairs, order)
    new = torch.ones_like(pairs, dtype=torch.bool)
    new[order[1:]] = ordered[1:] != ordered[:-1]
    pairs = pairs[new]
    owner = _owner(batch, pairs)
    pairs = rows(pairs, torch.argsort(owner, stable=True))
    counts = torch.bincount(owner, minlength=batch.num_graphs)
    owner = torch.repeat_interleave(counts)
    rank = torch.arange(len(pairs), device=pairs.device) - rows(counts.cumsum(0) - counts, owner)
    return pairs[rank < rows(wanted, owner)]


def _owner(batch: GraphBatch, pairs: Tensor) -> Tensor:
    """The graph of each pair, written as one number."""
    return rows(batch.batch, pairs // batch.num_nodes)
