"""ContextPred: recognise the neighbourhood of a node from what lies around it (Hu et al. 2020)."""

from __future__ import annotations

import torch
from pydantic import Field
from torch import Tensor
from torch.optim import Optimizer

from adgcl.augmentations.random_base import whole_numbers
from adgcl.core.ranges import searched
from adgcl.core.schema import FeatureSpec, Task
from adgcl.encoders.base import Encoder, EncoderConfig, make_encoder
from adgcl.graphs.kernels.hops import hop_distances
from adgcl.graphs.kernels.induced import induced
from adgcl.graphs.kernels.ops import rows
from adgcl.graphs.store.batch import GraphBatch
from adgcl.graphs.store.view import View
from adgcl.methods.base import METHODS, Method, MethodConfig, Metrics, switch
from adgcl.methods.optimizer import PlayerAdam
from adgcl.objectives.pair_scores import inner_products, pair_loss


class ContextPredConfig(MethodConfig):
    """Settings of ContextPred; the defaults are those of its authors' code."""

    name: str = "context_pred"
    context_size: int = Field(
        3, ge=1, le=64, description="hops across the context, and layers of the network that encodes it"
    )
    neg_samples: int = Field(1, ge=1, description="contexts of other graphs that each neighbourhood is compared with")
    lr: float = Field(1e-3, gt=0.0, description="learning rate", json_schema_extra=searched(1e-4, 1e-2, log=True))


@METHODS.register("context_pred")
class ContextPred(Method):
    """`min over both encoders of -mean log sigmoid(<h, c>) - neg_samples * mean log sigmoid(-<h, c'>)`.

    In each graph a root is drawn. With k layers, `h` is the encoder's row of the root, given the nodes at most k hops
    away. Its context is the nodes k to `k + context_size - 1` hops away; `c` is the mean row of those at k hops, given
    the context alone, from a separate encoder. `c'` are the contexts of the next graphs. A graph without a context
    takes no part in the step.

    Linear layers keep torch's initialisation, as in the authors' code.
    """

    Config = ContextPredConfig
    title = "ContextPred"
    config: ContextPredConfig

    def __init__(self, config: ContextPredConfig, encoder: EncoderConfig, spec: FeatureSpec, task: Task) -> None:
        super().__init__(config, encoder, spec, task)
        self.encoder = make_encoder(encoder, spec)
        self.context_encoder = make_encoder(encoder.model_copy(update={"num_layers": config.context_size}), spec)

    def make_optimizers(self) -> dict[str, Optimizer]:
        return {"encoder": PlayerAdam(self.parameters(), self.config.lr)}

    def step(self, batch: GraphBatch, generator: torch.Generator) -> Metrics:
        roots = batch.node_ptr[:-1] + whole_numbers(batch.num_graphs, generator) % batch.node_counts
        hops = self.encoder.config.num_layers
        farthest = hops + self.config.context_size - 1
        distance = hop_distances(batch, roots, farthest)
        # Any node farther away is reached through a node at this distance.
        overlap = (distance == hops).nonzero().squeeze(1)
        owner, place = rows(batch.batch, overlap).unique(return_inverse=True)
        if len(owner) < 2:
            # No graph to compare with: neither the normalisation nor Adam's averages may change.
            return {"loss": torch.zeros((), device=batch.device)}
        takes_part = torch.zeros(batch.num_graphs, dtype=torch.bool, device=batch.device).index_fill_(0, owner, True)
        near = (distance <= hops) & rows(takes_part, batch.batch)
        around = (distance >= hops) & (distance <= farthest)
        h = _rows_within(self.encoder, batch, near, rows(roots, owner))
        c = _mean_by(place, _rows_within(self.context_encoder, batch, around, overlap), len(owner))
        loss = context_loss(h, c, self.config.neg_samples)
        self.update(loss, "encoder")
        return {"loss": loss.detach()}


def context_loss(h: Tensor, c: Tensor, neg_samples: int) -> Tensor:
    """Each neighbourhood against its own context, and against those of the next `neg_samples` graphs, in a circle.

    If there are fewer other graphs, all of them are used, and the negatives keep their weight.
    """
    shifts = range(1, min(neg_samples, len(c) - 1) + 1)
    others = torch.cat([inner_products(h, c.roll(-shift, 0)) for shift in shifts])
    return pair_loss(inner_products(h, c), others, neg_samples)


def _rows_within(encoder: Encoder, batch: GraphBatch, kept: Tensor, nodes: Tensor) -> Tensor:
    """The rows of some of the `kept` nodes after the last layer, as if there were no others."""
    switch(encoder, training=True)
    node_emb = encoder.node_emb(induced(batch, View(node_keep=kept.float()))[0])
    last = node_emb[:, -encoder.config.hidden_dim :]
    return rows(last, rows(kept.cumsum(0) - 1, nodes))


def _mean_by(owner: Tensor, values: Tensor, groups: int) -> Tensor:
    sums = values.new_zeros(groups, values.shape[1]).index_add(0, owner, values)
    return sums / torch.bincount(owner, minlength=groups).unsqueeze(1)
