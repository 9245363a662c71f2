"""The compiled steps of methods: the same updates as their own `step`, with the same noise, without autograd."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from torch import Tensor

from adgcl.augmentations.edge_drop import EdgeDrop, drop_ratio
from adgcl.compiled.learner import Learner
from adgcl.compiled.networks import Places
from adgcl.compiled.spoiler import Drawn, Spoiler
from adgcl.encoders.gin import GIN
from adgcl.encoders.heads import ProjectionHead
from adgcl.graphs.store.batch import GraphBatch
from adgcl.methods.adgcl import ADGCL
from adgcl.methods.base import Method, Metrics
from adgcl.methods.nadgcl import NADGCL
from adgcl.methods.optimizer import PlayerAdam

# A batch with fewer graphs has no negatives and one with fewer nodes no variance: the method handles these.
_FEWEST = 2


class CompiledStep(ABC):
    """Called like `method.step`, to which it leaves unusual batches; both see the same parameters."""

    method: Method

    @torch.no_grad()
    def __call__(self, batch: GraphBatch, generator: torch.Generator) -> Metrics:
        if batch.num_graphs < _FEWEST or batch.num_nodes < _FEWEST:
            with torch.enable_grad():
                return self.method.step(batch, generator)
        return self.step(batch, generator)

    @abstractmethod
    def step(self, batch: GraphBatch, generator: torch.Generator) -> Metrics:
        """All updates on one batch."""


class WeighedEdges(CompiledStep):
    """Graphs recognised from copies of themselves whose edges are weighted."""

    def __init__(self, method: ADGCL | NADGCL) -> None:
        encoder, head, optimizer = method.encoder, method.head, method.optimizers["encoder"]
        assert isinstance(encoder, GIN) and isinstance(head, ProjectionHead) and isinstance(optimizer, PlayerAdam)
        self.method, self._inputs = method, encoder.inputs
        self.learner = Learner(encoder, head, optimizer, method.config.temperature, method.config.directions)

    def places(self, batch: GraphBatch) -> Places:
        """Where a batch and its node features are in memory."""
        return Places(batch, self._inputs(batch))


class CompiledADGCL(WeighedEdges):
    """AD-GCL with either of its updates."""

    method: ADGCL

    def __init__(self, method: ADGCL) -> None:
        super().__init__(method)
        optimizer = method.optimizers["augmenter"]
        assert isinstance(method.augmenter, EdgeDrop) and isinstance(optimizer, PlayerAdam)
        self.spoiler = Spoiler(method.augmenter, optimizer)

    def step(self, batch: GraphBatch, generator: torch.Generator) -> Metrics:
        places = self.places(batch)
        if self.method.config.update == "simultaneous":
            return self._simultaneous(batch, places, generator)
        ratio = self._augmenter_turn(batch, places, generator)
        return {**self._encoder_turn(batch, places, generator), **ratio}

    def _augmenter_turn(self, batch: GraphBatch, places: Places, generator: torch.Generator) -> Metrics:
        drawn = self.spoiler.draw(batch, places, generator, own=True)
        _, of_keep = self.learner.compare(places, drawn.keep, own=False, learning=False, spoiling=True)
        ratio = self._spoil(batch, drawn, of_keep)
        self.spoiler.player.update()
        return self.method.balance({"drop_ratio": ratio})

    def _encoder_turn(self, batch: GraphBatch, places: Places, generator: torch.Generator) -> Metrics:
        drawn = self.spoiler.draw(batch, places, generator, own=False)
        loss, _ = self.learner.compare(places, drawn.keep)
        self.learner.player.update()
        return {"loss": loss}

    def _simultaneous(self, batch: GraphBatch, places: Places, generator: torch.Generator) -> Metrics:
        drawn = self.spoiler.draw(batch, places, generator, own=True)
        loss, of_keep = self.learner.compare(places, drawn.keep, spoiling=True)
        ratio = self._spoil(batch, drawn, of_keep)
        self.learner.player.update()
        self.spoiler.player.update()
        return {"loss": loss, **self.method.balance({"drop_ratio": ratio})}

    def _spoil(self, batch: GraphBatch, drawn: Drawn, of_keep: Tensor) -> Tensor:
        """The augmenter's gradients at today's price; returns what it drops."""
        ratio = drop_ratio(drawn.keep, batch)
        price = self.method.price(self.method.change([ratio]))
        self.spoiler.backward(batch, drawn, of_keep, float(price) * self.method.weights[0])
        return ratio


class CompiledNADGCL(WeighedEdges):
    """NAD-GCL: the learner alone, on edges dropped at random."""

    method: NADGCL

    def step(self, batch: GraphBatch, generator: torch.Generator) -> Metrics:
        view, ratio = self.method.augmenter(batch, generator)
        loss, _ = self.learner.compare(self.places(batch), view.edge_keep)
        self.learner.player.update()
        return {"loss": loss, "drop_ratio": ratio}
