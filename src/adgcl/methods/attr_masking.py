"""AttrMasking: predict the category of hidden nodes from what surrounds them (Hu et al. 2020)."""

from __future__ import annotations

from dataclasses import replace

import torch
from pydantic import Field
from torch import Tensor
from torch.nn import functional as F

from adgcl.core.errors import DataError
from adgcl.core.schema import FeatureSpec, Task
from adgcl.encoders.base import EncoderConfig
from adgcl.encoders.dense import Dense
from adgcl.graphs.kernels.ops import rows
from adgcl.graphs.kernels.undirected import edges_once
from adgcl.graphs.store.batch import GraphBatch
from adgcl.methods.base import METHODS, Metrics
from adgcl.methods.masking import Masked, Masking, MaskingConfig, with_token
from adgcl.parallel.collectives import average_count, part_of_mean


class AttrMaskingConfig(MaskingConfig):
    """Settings of AttrMasking; the defaults are those of its authors' code."""

    name: str = "attr_masking"
    mask_edges: bool = Field(
        False, description="hide the bonds of hidden atoms as well, and predict their type (molecules with hu features)"
    )


@METHODS.register("attr_masking")
class AttrMasking(Masking):
    """`min over encoder, W of cross_entropy(W h_i, category_i)` over the hidden nodes i.

    With `mask_edges`, `cross_entropy(V (h_i + h_j), type_ij)` over the bonds of hidden atoms is added.
    """

    Config = AttrMaskingConfig
    title = "AttrMasking"
    config: AttrMaskingConfig

    def __init__(self, config: AttrMaskingConfig, encoder: EncoderConfig, spec: FeatureSpec, task: Task) -> None:
        super().__init__(config, encoder, spec, task)
        self.head = Dense(self.encoder.node_dim, self.num_categories)
        self.edge_head: Dense | None = None
        if config.mask_edges:
            if self.tokens is None:
                raise DataError(
                    f"The features {spec.name!r} have no code for a hidden edge.",
                    "Leave mask_edges off, or read molecules with --set data.atom_features=hu.",
                )
            self.edge_head = Dense(self.encoder.node_dim, self.tokens[1])

    def step(self, batch: GraphBatch, generator: torch.Generator) -> Metrics:
        masked = self.mask(batch, generator)
        if self.edge_head is not None:
            masked = masked._replace(batch=self._with_hidden_edges(masked))
        node_emb = self.states(masked)
        loss = F.cross_entropy(self.head(rows(node_emb, masked.nodes)).float(), masked.codes)
        loss = part_of_mean(loss, len(masked.nodes))
        if self.edge_head is not None:
            loss = loss + self._edge_loss(self.edge_head, node_emb, batch, masked.hidden)
        self.update(loss, "encoder")
        return {"loss": loss.detach()}

    def _with_hidden_edges(self, masked: Masked) -> GraphBatch:
        batch = masked.batch
        assert batch.edge_attr is not None and self.tokens is not None
        touched = _touched(batch, masked.hidden).nonzero().squeeze(1)
        return replace(batch, edge_attr=with_token(batch.edge_attr, touched, self.tokens[1]))

    def _edge_loss(self, head: Dense, node_emb: Tensor, batch: GraphBatch, hidden: Tensor) -> Tensor:
        """The loss on the types of hidden edges, each counted once; 0 if there are none."""
        assert batch.edge_attr is not None
        edges = edges_once(batch)
        edges = edges[rows(_touched(batch, hidden), edges)]
        source, target = rows(batch.col, edges), rows(batch.target, edges)
        logits = head(rows(node_emb, source) + rows(node_emb, target)).float()
        total = F.cross_entropy(logits, rows(batch.edge_attr, edges)[:, 0], reduction="sum")
        return total / (average_count(len(edges)) or 1)


def _touched(batch: GraphBatch, hidden: Tensor) -> Tensor:
    """Which edges have a hidden end."""
    return rows(hidden, batch.col) | rows(hidden, batch.target)
