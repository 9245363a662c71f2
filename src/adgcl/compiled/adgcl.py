"""AD-GCL's step, compiled: the same updates as `methods/adgcl.py`, with the same noise, without autograd."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from adgcl.augmentations.edge_drop import EdgeDrop, drop_ratio
from adgcl.augmentations.gates import relaxed_bernoulli, rounded
from adgcl.compiled.networks import Head, Places, Scores, Trunk
from adgcl.compiled.players import Player
from adgcl.encoders.gin import GIN
from adgcl.graphs.kernels.ops import rows
from adgcl.graphs.store.batch import GraphBatch
from adgcl.methods.adgcl import ADGCL
from adgcl.methods.base import Metrics
from adgcl.methods.optimizer import PlayerAdam
from adgcl.objectives.info_nce import contrast, contrast_backward

# A batch with fewer graphs has no negatives and one with fewer nodes no variance: the method knows what to do.
_FEWEST = 2


class Drawn(NamedTuple):
    """Weights of edges: `soft` as the gate gives them, `keep` as the encoder sees them."""

    soft: Tensor
    keep: Tensor


class CompiledADGCL:
    """Two players whose networks share a step; called like `ADGCL.step`."""

    def __init__(self, method: ADGCL) -> None:
        encoder, augmenter, optimizers = method.encoder, method.augmenter, method.optimizers
        assert isinstance(encoder, GIN) and isinstance(augmenter, EdgeDrop) and isinstance(augmenter.encoder, GIN)
        self.method, self.augmenter, self.inputs = method, augmenter, encoder.inputs
        self.learner = Player(_adam(optimizers["encoder"]), [*encoder.layers.parameters(), *method.head.parameters()])
        edge_network = [augmenter.ends.weight, augmenter.bias, *augmenter.score.parameters()]
        self.spoiler = Player(_adam(optimizers["augmenter"]), [*augmenter.encoder.layers.parameters(), *edge_network])
        self.trunk, self.head = Trunk(encoder, self.learner), Head(encoder, method.head, self.learner)
        self.spoiler_trunk, self.scores = Trunk(augmenter.encoder, self.spoiler), Scores(augmenter, self.spoiler)

    @torch.no_grad()
    def __call__(self, batch: GraphBatch, generator: torch.Generator) -> Metrics:
        """One step; see `ADGCL.step`."""
        if batch.num_graphs < _FEWEST or batch.num_nodes < _FEWEST:
            with torch.enable_grad():
                return self.method.step(batch, generator)
        places = Places(batch, self.inputs(batch))
        if self.method.config.update == "simultaneous":
            return self._simultaneous_step(batch, places, generator)
        return self._alternating_step(batch, places, generator)

    def _alternating_step(self, batch: GraphBatch, places: Places, generator: torch.Generator) -> Metrics:
        drawn = self.draw(batch, places, generator, own=True)
        loss, of_keep = self.compare(places, drawn.keep, own=False, learning=False, spoiling=True)
        self.spoil(batch, drawn, of_keep)
        self.spoiler.update()
        ratio = drop_ratio(drawn.keep, batch)

        drawn = self.draw(batch, places, generator, own=False)
        loss, _ = self.compare(places, drawn.keep, own=True, learning=True, spoiling=False)
        self.learner.update()
        return {"loss": loss, "drop_ratio": ratio}

    def _simultaneous_step(self, batch: GraphBatch, places: Places, generator: torch.Generator) -> Metrics:
        drawn = self.draw(batch, places, generator, own=True)
        loss, of_keep = self.compare(places, drawn.keep, own=True, learning=True, spoiling=True)
        self.spoil(batch, drawn, of_keep)
        self.learner.update()
        self.spoiler.update()
        return {"loss": loss, "drop_ratio": drop_ratio(drawn.keep, batch)}

    def draw(self, batch: GraphBatch, places: Places, generator: torch.Generator, own: bool) -> Drawn:
        """The augmenter's weights of edges."""
        self.spoiler_trunk.forward(places, keep=0, copies=1, own=own)
        logits = self.scores.forward(places, self.spoiler_trunk.last_rows)
        if self._tied(batch):
            logits = (logits + rows(logits, batch.reverse)) / 2
        gate = self.augmenter.gate
        soft = relaxed_bernoulli(logits, self.augmenter.noise(batch, generator), gate.temperature)
        return Drawn(soft, rounded(soft) if gate.hard else soft)

    def compare(self, places: Places, keep: Tensor, own: bool, learning: bool, spoiling: bool) -> tuple[Tensor, Tensor]:
        """The loss of graphs and their View; the gradients of encoder and head, and of the weights, if wanted."""
        config = self.method.config
        out = self.trunk.forward(places, keep.data_ptr(), copies=2, own=own)
        z = self.head.forward(places, out, copies=2)
        loss, state = contrast(z, config.temperature, config.directions == "both")
        of_graphs = self.head.backward(contrast_backward(state, 1.0), learning)
        of_keep = torch.zeros(places.edges if spoiling else 0)
        self.trunk.backward(learning, of_keep.data_ptr() if spoiling else 0, of_graphs, self.head.every)
        return loss, of_keep

    def spoil(self, batch: GraphBatch, drawn: Drawn, of_keep: Tensor) -> None:
        """The augmenter's gradients: it wants a high loss, and pays for what it drops."""
        # Of `price * drop_ratio - loss`; the gradient of a hard gate is that of the soft weight.
        slope = of_keep.add_(batch.edge_share, alpha=self.method.prices[0]).neg_()
        of_logits = torch.ops.aten.sigmoid_backward(slope, drawn.soft).div_(self.augmenter.gate.temperature)
        if self._tied(batch):
            of_logits = (of_logits + rows(of_logits, batch.reverse)) / 2
        self.scores.backward(of_logits, self.spoiler_trunk.incoming())
        self.spoiler_trunk.backward(learning=True)

    def _tied(self, batch: GraphBatch) -> bool:
        return self.augmenter.gate.tied and batch.reverse is not None


def _adam(optimizer: object) -> PlayerAdam:
    assert isinstance(optimizer, PlayerAdam)
    return optimizer
