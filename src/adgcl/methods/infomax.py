"""InfoMax: tell graphs apart, and nothing else; or predict true or random labels besides (Figure 2 of the paper)."""

from __future__ import annotations

from typing import Literal

import numpy as np
import torch
from pydantic import Field, field_validator
from torch import Tensor, nn

from adgcl.core.errors import DataError
from adgcl.core.schema import FeatureSpec, Task
from adgcl.core.seeds import derived_rng
from adgcl.encoders.base import EncoderConfig
from adgcl.encoders.heads import initialise
from adgcl.graphs.store.batch import GraphBatch
from adgcl.graphs.store.store import GraphStore
from adgcl.graphs.store.view import View
from adgcl.methods.base import METHODS, MethodConfig, Metrics
from adgcl.methods.contrastive import Contrastive, ContrastiveConfig
from adgcl.objectives.supervised import supervised_loss

_COIN = Task("binary")


class InfoMaxConfig(ContrastiveConfig):
    """Settings of InfoMax."""

    name: str = "infomax"
    labels: Literal["none", "random", "true"] = Field(
        "none", description="what a linear head learns at the same time: nothing, a coin toss for each graph, or labels"
    )
    label_weight: float = Field(1.0, ge=0.0, description="weight of the loss of that head")

    @field_validator("labels", mode="before")
    @classmethod
    def _typed(cls, labels: object) -> object:
        """On a command line `labels=true` looks like a yes."""
        return "true" if labels is True else labels


@METHODS.register("infomax")
class InfoMax(Contrastive):
    """`min over encoder, head, W, b of InfoNCE(G, G) + label_weight * loss(W graph_emb + b, label)`.

    Encoder and head begin with the same weights whatever `labels` says. Under the unsupervised protocol the true labels
    are those of the training part; random ones are tossed once for every graph, and the run's seed decides them.
    """

    Config = InfoMaxConfig
    title = "InfoMax"
    config: InfoMaxConfig
    label_seed: Tensor

    def __init__(self, config: InfoMaxConfig, encoder: EncoderConfig, spec: FeatureSpec, task: Task) -> None:
        super().__init__(config, encoder, spec, task)
        self.learned = _COIN if config.labels == "random" else task
        self.label_head: nn.Linear | None = None
        if config.labels != "none":
            outputs = self.learned.num_classes if self.learned.kind == "multiclass" else self.learned.num_tasks
            if self.learned.kind == "none" or outputs < 1:
                raise DataError("There are no labels to learn.", "Use --set labels=random or none.")
            self.label_head = nn.Linear(self.encoder.graph_dim, outputs)
            initialise(self.label_head)
            # Networks are made from the run's seed, so this depends on it too.
            self.register_buffer("label_seed", torch.randint(2**31, ()))

    @classmethod
    def kept(cls, config: MethodConfig) -> tuple[str, ...]:
        assert isinstance(config, InfoMaxConfig)
        return ("loss",) if config.labels == "none" else ("loss", "label_loss")

    def begin(self, store: GraphStore) -> GraphStore:
        if self.config.labels == "random":
            tossed = derived_rng(int(self.label_seed), "labels").integers(0, 2, size=(len(store), 1))
            return store.with_labels(tossed.astype(np.float64), _COIN)
        if self.config.labels == "true":
            if store.y is None or np.isnan(store.y).all():
                raise DataError(
                    "No label may be shown in training: the data has no training part of its own.",
                    "Choose data with a split, such as ogbg-molbace, or divide it with --split.",
                )
            if self.learned.kind == "regression":
                spread = np.nanstd(store.y, axis=0)
                scaled = (store.y - np.nanmean(store.y, axis=0)) / np.where(spread > 0, spread, 1.0)
                return store.with_labels(scaled, store.task)
        return store

    def step(self, batch: GraphBatch, generator: torch.Generator) -> Metrics:
        graph_emb = self.embed_view(batch, View())
        z = self.head(graph_emb)
        loss = self.contrast(z, z)
        if self.label_head is None:
            return self.learn(loss)
        assert batch.y is not None
        label_loss = supervised_loss(self.label_head(graph_emb), batch.y, self.learned.kind)
        self.update(loss + self.config.label_weight * label_loss, "encoder")
        return {"loss": loss.detach(), "label_loss": label_loss.detach()}
