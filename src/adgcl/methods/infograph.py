"""InfoGraph: every node learns to recognise its own graph among those of the batch (Sun et al. 2020)."""

from __future__ import annotations

from typing import Literal

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.optim import Optimizer

from adgcl.core.ranges import searched
from adgcl.core.schema import FeatureSpec, Task
from adgcl.encoders.base import EncoderConfig, make_encoder
from adgcl.encoders.dense import Dense
from adgcl.encoders.heads import initialise
from adgcl.graphs.store.batch import GraphBatch
from adgcl.methods.base import METHODS, Method, MethodConfig, Metrics, switch
from adgcl.methods.optimizer import PlayerAdam
from adgcl.objectives.local_global import local_global, prior_matching


class InfoGraphConfig(MethodConfig):
    """Settings of InfoGraph; the defaults are those of its authors' code."""

    name: str = "infograph"
    lr: float = Field(
        1e-3,
        gt=0.0,
        description="learning rate of encoder and heads",
        json_schema_extra=searched(1e-4, 1e-2, log=True),
    )
    prior: Literal["off", "adversarial", "as_published"] = Field(
        "off",
        description="pull embeddings towards a uniform prior: not at all, against a discriminator, or, as the authors' "
        "code does, with an encoder that helps the discriminator",
    )
    prior_weight: float = Field(0.1, ge=0.0, description="weight of the prior beside the local-global loss")


class ShortcutHead(nn.Module):
    """`relu(W3 relu(W2 relu(W1 h))) + W0 h`."""

    def __init__(self, in_dim: int, width: int) -> None:
        super().__init__()
        layers = [part for columns in (in_dim, width, width) for part in (Dense(columns, width), nn.ReLU())]
        self.block = nn.Sequential(*layers)
        self.shortcut = Dense(in_dim, width)

    def forward(self, h: Tensor) -> Tensor:
        z: Tensor = self.block(h) + self.shortcut(h)
        return z


@METHODS.register("infograph")
class InfoGraph(Method):
    """`min over encoder and heads of E_neg[softplus(s)] + E_pos[softplus(-s)]`, `s = <local(node), global(graph)>`.

    Its authors concatenate all layers of the encoder (`encoder.layers = "all"`, as the presets do).

    Deviation: the encoder is the one shared by all methods here, which normalises before the relu; InfoGraph's own
    normalises after it. The authors minimise the prior's loss over encoder and discriminator alike, so that the
    encoder moves away from the prior; `prior = "adversarial"` is the game that the equation describes.
    """

    Config = InfoGraphConfig
    title = "InfoGraph"
    unlike_published_transfer = (
        "Differs from the row of this name in published tables of transfer, which is the Infomax of Hu et al.: this is "
        "InfoGraph itself."
    )
    parallel = True
    config: InfoGraphConfig

    def __init__(self, config: InfoGraphConfig, encoder: EncoderConfig, spec: FeatureSpec, task: Task) -> None:
        super().__init__(config, encoder, spec, task)
        self.encoder = make_encoder(encoder, spec)
        width = self.encoder.node_dim
        self.local_head, self.global_head = ShortcutHead(width, width), ShortcutHead(self.encoder.graph_dim, width)
        self.discriminator = None if config.prior == "off" else _discriminator(self.encoder.graph_dim)
        initialise(self)

    def make_optimizers(self) -> dict[str, Optimizer]:
        return {"encoder": PlayerAdam(self.parameters(), self.config.lr)}

    def step(self, batch: GraphBatch, generator: torch.Generator) -> Metrics:
        switch(self.encoder, training=True)
        local, graph_emb = self.encoder.headed(batch, self.local_head)
        loss = local_global(local, self.global_head(graph_emb), batch.batch)
        metrics = {"loss": loss.detach()}
        if self.discriminator is not None:
            prior = self._prior_loss(self.discriminator, graph_emb, batch, generator)
            metrics["prior"] = prior.detach()
            loss = loss + self.config.prior_weight * prior
        self.update(loss, "encoder")
        return metrics

    def _prior_loss(
        self, discriminator: nn.Module, graph_emb: Tensor, batch: GraphBatch, generator: torch.Generator
    ) -> Tensor:
        width, device = graph_emb.shape[1], graph_emb.device
        drawn = batch.drawn("graphs", lambda count: torch.rand(count, width, generator=generator, device=device))
        if self.config.prior == "adversarial":
            # The same numbers with the gradient reversed: the discriminator minimises what the encoder maximises.
            graph_emb = (2.0 * graph_emb).detach() - graph_emb
        return prior_matching(discriminator(drawn), discriminator(graph_emb))


def _discriminator(width: int) -> nn.Module:
    return nn.Sequential(
        nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1)
    )  # fmt: skip
