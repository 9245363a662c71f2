"""The compiled steps of GraphCL and JOAO: what their own `step` does, with a compiled learner."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import torch
from torch import Tensor

from adgcl.augmentations.random_base import edges_gone
from adgcl.augmentations.random_choice import choices
from adgcl.compiled.steps import CompiledStep
from adgcl.compiled.view_learner import Choice, ViewLearner
from adgcl.compiled.views import see
from adgcl.encoders.gin import GIN
from adgcl.encoders.heads import ProjectionHead
from adgcl.graphs.store.batch import GraphBatch
from adgcl.graphs.store.view import View
from adgcl.methods.base import Metrics
from adgcl.methods.contrastive import Contrastive
from adgcl.methods.graphcl import GraphCL
from adgcl.methods.joao import JOAO
from adgcl.methods.joaov2 import JOAOv2
from adgcl.methods.optimizer import PlayerAdam


class ViewStep(CompiledStep):
    """Graphs recognised from Views that keep, hide or add whole nodes and edges."""

    method: Contrastive

    def __init__(self, method: Contrastive) -> None:
        encoder, optimizer = method.encoder, method.optimizers["encoder"]
        assert isinstance(encoder, GIN) and isinstance(optimizer, PlayerAdam)
        heads = [method.head] if isinstance(method.head, ProjectionHead) else list(method.head.children())
        self.method, self._inputs = method, encoder.inputs
        self.learner = ViewLearner(
            encoder,
            cast(Sequence[ProjectionHead], heads),
            optimizer,
            method.config.temperature,
            method.config.directions,
        )

    def see(self, batch: GraphBatch, *views: View) -> None:
        """Both Views of a batch, through the layers, in this order."""
        for side, view in enumerate(views):
            self.learner.see(see(batch, view, self._inputs), side)

    def learn(self, *heads: Choice) -> Tensor:
        """The loss of what was seen last, after an update of everything that took part."""
        loss = self.learner.loss(*heads)
        self.learner.backward()
        self.learner.update()
        return loss


class CompiledGraphCL(ViewStep):
    """GraphCL, with one augmented copy of a graph or two."""

    method: GraphCL

    def step(self, batch: GraphBatch, generator: torch.Generator) -> Metrics:
        view, drop_ratio = self.method.augmenter(batch, generator)
        one = self.method.config.views == "one"
        self.see(batch, View() if one else self.method.augmenter(batch, generator).view, view)
        return {"loss": self.learn(0, 0), "drop_ratio": drop_ratio}


class CompiledJOAO(ViewStep):
    """JOAO, and JOAOv2 with its several heads."""

    method: JOAO

    def step(self, batch: GraphBatch, generator: torch.Generator) -> Metrics:
        method = self.method
        if isinstance(method, JOAOv2):
            method.draw_head(generator)
        choice = choices(method.q, batch, generator)
        view = method.augmenter.view(batch, choice, generator)
        self.see(batch, View(), view)
        loss = self.learn(*self._heads(choice))
        if method.estimates_now:
            method.note_losses(self._losses(batch, generator), batch)
        method.steps_taken += 1
        return {"loss": loss, "drop_ratio": edges_gone(view, batch), **method.shown()}

    def _losses(self, batch: GraphBatch, generator: torch.Generator) -> list[Tensor]:
        """The loss that each augmentation has on this batch."""
        losses = []
        self.see(batch, View())
        for choice, view in self.method.all_views(batch, generator):
            self.learner.see(see(batch, view, self._inputs), side=1)
            losses.append(self.learner.loss(*self._heads(choice, estimating=True)))
        return losses

    def _heads(self, choice: Tensor, estimating: bool = False) -> tuple[Choice, Choice]:
        """The heads of the originals and of the Views, as `choice_loss` takes them."""
        method = self.method
        if not isinstance(method, JOAOv2):
            return 0, 0
        if method.config.head_per == "epoch":
            return 0, 0 if estimating else int(method.drawn_head)
        return method.original, choice
