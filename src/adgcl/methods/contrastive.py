"""What contrastive methods with fixed augmentations share: an encoder, a projection head, InfoNCE and one Adam."""

from __future__ import annotations

from pydantic import Field
from torch import Tensor, nn
from torch.optim import Optimizer

from adgcl.core.ranges import searched
from adgcl.core.schema import FeatureSpec, Task
from adgcl.encoders.base import EncoderConfig, make_encoder
from adgcl.encoders.heads import ProjectionHead, initialise
from adgcl.graphs.kernels.induced import induced
from adgcl.graphs.store.batch import GraphBatch
from adgcl.graphs.store.view import View
from adgcl.methods.base import Method, MethodConfig, Metrics, switch
from adgcl.methods.optimizer import PlayerAdam
from adgcl.objectives.info_nce import Directions, info_nce


class ContrastiveConfig(MethodConfig):
    """Settings of the loss and its optimiser; the defaults are those of the authors' baselines."""

    temperature: float = Field(
        0.2,
        ge=0.005,
        description="temperature of the contrastive loss",
        json_schema_extra=searched(0.05, 1.0, log=True),
    )
    directions: Directions = Field("one", description="contrast rows only, or rows and columns")
    lr: float = Field(
        1e-3,
        gt=0.0,
        description="learning rate of encoder and projection head",
        json_schema_extra=searched(1e-4, 1e-2, log=True),
    )


class Contrastive(Method):
    """`min over encoder and head of InfoNCE(G, t(G))`; a subclass says in `step` how `t` is drawn."""

    parallel = True
    config: ContrastiveConfig

    def __init__(self, config: ContrastiveConfig, encoder: EncoderConfig, spec: FeatureSpec, task: Task) -> None:
        super().__init__(config, encoder, spec, task)
        self.encoder = make_encoder(encoder, spec)
        self.head = self.make_head()
        initialise(self)

    @classmethod
    def kept(cls, config: MethodConfig) -> tuple[str, ...]:
        return ("loss", "drop_ratio")

    def make_head(self) -> nn.Module:
        """The map from `graph_emb` to `z`."""
        return ProjectionHead(self.encoder.graph_dim)

    def make_optimizers(self) -> dict[str, Optimizer]:
        return {"encoder": PlayerAdam(self.parameters(), self.config.lr)}

    def embed_view(self, batch: GraphBatch, view: View) -> Tensor:
        """Graph embeddings of a View whose weights are all 0 or 1, in training mode."""
        switch(self.encoder, training=True)
        return self.encoder(*induced(batch, view)).graph_emb

    def embed_pair(self, batch: GraphBatch, view: View) -> tuple[Tensor, Tensor]:
        """Graph embeddings of a batch and of a View of it."""
        if view.node_keep is not None:
            return self.embed_view(batch, View()), self.embed_view(batch, view)
        # If no nodes are dropped, one pass is faster than two.
        switch(self.encoder, training=True)
        graph_emb, view_emb = self.encoder.stacked(batch, [View(), view]).graph_emb.chunk(2)
        return graph_emb, view_emb

    def loss(self, graph_emb: Tensor, view_emb: Tensor) -> Tensor:
        """How badly graphs are recognised from their Views."""
        return self.contrast(self.head(graph_emb), self.head(view_emb))

    def contrast(self, z: Tensor, z_view: Tensor) -> Tensor:
        """The loss of projected embeddings."""
        return info_nce(z, z_view, self.config.temperature, self.config.directions)

    def learn(self, loss: Tensor) -> Metrics:
        """One update of encoder and head."""
        self.update(loss, "encoder")
        return {"loss": loss.detach()}
