"""The spoiler: AD-GCL's augmenter, which weights the edges of a batch; forward, and backward from their gradient."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from adgcl.augmentations.edge_drop import EdgeDrop
from adgcl.augmentations.gates import relaxed_bernoulli, rounded
from adgcl.compiled.networks import Places, Scores, Trunk
from adgcl.compiled.players import Player
from adgcl.encoders.gin import GIN
from adgcl.graphs.kernels.ops import rows
from adgcl.graphs.store.batch import GraphBatch
from adgcl.methods.optimizer import PlayerAdam

_sigmoid_backward = torch.ops.aten.sigmoid_backward.default


class Drawn(NamedTuple):
    """Weights of edges: `soft` as the gate gives them, `keep` as the encoder sees them."""

    soft: Tensor
    keep: Tensor


class Spoiler:
    """Its own GIN, edge scores and the gate."""

    def __init__(self, augmenter: EdgeDrop, optimizer: PlayerAdam) -> None:
        assert isinstance(augmenter.encoder, GIN)
        edge_network = [*augmenter.ends.parameters(), augmenter.bias, *augmenter.score.parameters()]
        self.player = Player(optimizer, [*augmenter.encoder.layers.parameters(), *edge_network])
        self._trunk, self._scores = Trunk(augmenter.encoder, self.player), Scores(augmenter, self.player)
        self._augmenter, self._gate = augmenter, augmenter.gate

    def draw(self, batch: GraphBatch, places: Places, generator: torch.Generator, own: bool) -> Drawn:
        """Weights of edges; `own` normalises by the batch's own statistics, as in training mode."""
        self._trunk.forward(places, keep=0, copies=1, own=own)
        logits = self._both_ways(self._scores.forward(places, self._trunk.last_rows), batch)
        soft = relaxed_bernoulli(logits, self._augmenter.noise(batch, generator), self._gate.temperature)
        return Drawn(soft, rounded(soft) if self._gate.hard else soft)

    def backward(self, batch: GraphBatch, drawn: Drawn, of_keep: Tensor, price: float) -> None:
        """The gradients of `price * drop_ratio - loss`, given the gradient of the loss with respect to the weights."""
        slope = torch.add(of_keep, batch.edge_share, alpha=price).neg_()
        # A hard gate passes the soft weight's gradient straight through.
        of_logits = _sigmoid_backward(slope, drawn.soft).div_(self._gate.temperature)
        self._scores.backward(self._both_ways(of_logits, batch), self._trunk.incoming())
        self._trunk.backward(learning=True)

    def _both_ways(self, values: Tensor, batch: GraphBatch) -> Tensor:
        """The mean of an edge and its reverse, where the gate ties them; its own transpose, so backward too."""
        if not self._gate.tied or batch.reverse is None:
            return values
        return (values + rows(values, batch.reverse)) / 2
