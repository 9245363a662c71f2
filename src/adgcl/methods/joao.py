"""JOAO: GraphCL whose augmentations are drawn more often the harder they are (You et al. 2021)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from pydantic import Field, field_validator
from torch import Tensor

from adgcl.augmentations.random_base import RandomConfig, edges_gone
from adgcl.augmentations.random_choice import RandomChoice, checked_pool, choices
from adgcl.core.ranges import searched
from adgcl.core.schema import FeatureSpec, Task
from adgcl.encoders.base import EncoderConfig
from adgcl.graphs.store.batch import GraphBatch
from adgcl.graphs.store.view import View
from adgcl.methods.base import METHODS, MethodConfig, Metrics
from adgcl.methods.contrastive import Contrastive, ContrastiveConfig
from adgcl.parallel.collectives import average, average_count


class JOAOConfig(RandomConfig, ContrastiveConfig):
    """Settings of JOAO; the defaults are those of its experiments, with a real walk and added edges."""

    name: str = "joao"
    ratio: float = Field(
        0.2,
        ge=0.0,
        lt=1.0,
        description="share of nodes dropped, edges perturbed or nodes masked",
        json_schema_extra=searched(0.05, 0.4),
    )
    subgraph_ratio: float = Field(0.8, gt=0.0, le=1.0, description="share of nodes that a subgraph keeps")
    pool: tuple[str, ...] = Field(
        ("random_node_drop", "random_edge_perturb", "random_subgraph", "random_feature_mask", "identity"),
        description="augmentations to draw from, separately for each graph",
    )
    gamma: float = Field(
        0.1,
        ge=0.0,
        description="how strongly probabilities are pulled towards equal ones",
        json_schema_extra=searched(0.01, 1.0, log=True),
    )
    step_size: float = Field(1.0, ge=0.0, description="step of the probabilities after an epoch; 0 leaves them equal")
    estimate_every: int = Field(5, ge=1, description="steps between estimates of every augmentation's loss")

    _pool = field_validator("pool")(checked_pool)


@METHODS.register("joao")
class JOAO(Contrastive):
    """`min over encoder, max over q of sum_k q_k InfoNCE(G, t_k(G)) - gamma/2 |q - uniform|^2`, q on the simplex.

    An epoch trains the encoder with augmentations drawn from `q`. Every fifth step, from the first on, also measures
    the loss of each augmentation on its batch, without gradient. At the end of the epoch `q` takes one step up the
    gradient and is projected back on the simplex.

    Deviation: the authors measure after the epoch, on the first fifth of the batches plus one; measuring during the
    epoch needs no second pass over the data.
    """

    Config = JOAOConfig
    title = "JOAO"
    unlike_published_transfer = (
        "Differs from JOAO as published for transfer: one copy of a graph is changed and q weights five augmentations, "
        "where its authors change both copies and weight 25 pairs."
    )
    config: JOAOConfig
    q: Tensor
    loss_sums: Tensor
    graphs_seen: Tensor
    steps_taken: Tensor

    def __init__(self, config: JOAOConfig, encoder: EncoderConfig, spec: FeatureSpec, task: Task) -> None:
        super().__init__(config, encoder, spec, task)
        self.augmenter = RandomChoice(config.pool, config)
        size = len(config.pool)
        # Buffers, so that a checkpoint in the middle of an epoch has them.
        self.register_buffer("q", torch.full((size,), 1 / size))
        self.register_buffer("loss_sums", torch.zeros(size))
        self.register_buffer("graphs_seen", torch.zeros(()))
        self.register_buffer("steps_taken", torch.zeros((), dtype=torch.long))

    @classmethod
    def kept(cls, config: MethodConfig) -> tuple[str, ...]:
        assert isinstance(config, JOAOConfig)
        return ("loss", "drop_ratio", *map(_probability_name, config.pool))

    def step(self, batch: GraphBatch, generator: torch.Generator) -> Metrics:
        choice = choices(self.q, batch, generator)
        view = self.augmenter.view(batch, choice, generator)
        metrics = self.learn(self.choice_loss(*self.embed_pair(batch, view), choice))
        if self.estimates_now:
            self.note_losses(self._losses(batch, generator), batch)
        self.steps_taken += 1
        return {**metrics, "drop_ratio": edges_gone(view, batch), **self.shown()}

    @property
    def estimates_now(self) -> bool:
        """Whether this step also measures the loss of every augmentation."""
        return int(self.steps_taken) % self.config.estimate_every == 0

    def choice_loss(self, graph_emb: Tensor, view_emb: Tensor, choice: Tensor, estimating: bool = False) -> Tensor:
        """The loss where graph g was changed by augmentation `choice[g]`, in training or to estimate losses."""
        return self.loss(graph_emb, view_emb)

    @torch.no_grad()
    def _losses(self, batch: GraphBatch, generator: torch.Generator) -> list[Tensor]:
        """The loss that each augmentation has on this batch."""
        losses, graph_emb = [], self.embed_view(batch, View())
        for choice, view in self.all_views(batch, generator):
            losses.append(self.choice_loss(graph_emb, self.embed_view(batch, view), choice, estimating=True))
        return losses

    def all_views(self, batch: GraphBatch, generator: torch.Generator) -> Iterator[tuple[Tensor, View]]:
        """For each augmentation in turn: its number for every graph, and a View in which it changes all of them."""
        for number in range(len(self.q)):
            choice = torch.full((batch.num_graphs,), number, device=batch.device)
            yield choice, self.augmenter.view(batch, choice, generator)

    def note_losses(self, losses: Sequence[Tensor], batch: GraphBatch) -> None:
        """Add the losses of all augmentations on this batch to the sums of the epoch."""
        graphs = average_count(batch.num_graphs)
        self.loss_sums += average(torch.stack(list(losses))) * graphs
        self.graphs_seen += graphs

    @torch.no_grad()
    def end_epoch(self) -> None:
        """`q <- project(q + step_size * (loss - gamma * (q - uniform)))`, and reset the sums of the epoch."""
        if self.graphs_seen > 0:
            slope = self.loss_sums / self.graphs_seen - self.config.gamma * (self.q - 1 / len(self.q))
            self.q.copy_(project_on_simplex(self.q + self.config.step_size * slope))
        for memory in (self.loss_sums, self.graphs_seen, self.steps_taken):
            memory.zero_()

    def shown(self) -> Metrics:
        """The probabilities, as metrics."""
        return dict(zip(map(_probability_name, self.config.pool), self.q.clone()))


def _probability_name(augmentation: str) -> str:
    """The name of the metric for the probability of an augmentation."""
    return f"q_{augmentation.removeprefix('random_')}"


# Each halves the remaining interval: enough for full 64-bit precision.
_HALVINGS = 60


def project_on_simplex(b: Tensor) -> Tensor:
    """The probabilities nearest to `b`: `max(b - mu, 0)` with the threshold `mu` at which they add up to 1.

    `mu` is found by bisection, as the authors of JOAO do. Deviation: they stop within 1e-2 of a sum of 1.
    """
    wide = b.cpu().double()
    low, high = wide.min() - 1 / len(b), wide.max() - 1 / len(b)
    for _ in range(_HALVINGS):
        mu = (low + high) / 2
        too_much = (wide - mu).clamp(min=0).sum() > 1
        low, high = torch.where(too_much, mu, low), torch.where(too_much, high, mu)
    q = (wide - low).clamp(min=0)
    return (q / q.sum()).to(b)
