"""The learner: an encoder with its head that recognises graphs from weighted copies; forward, loss and backward."""

from __future__ import annotations

import torch
from torch import Tensor

from adgcl.compiled.networks import Head, Places, Trunk
from adgcl.compiled.players import Player
from adgcl.encoders.gin import GIN
from adgcl.encoders.heads import ProjectionHead
from adgcl.methods.optimizer import PlayerAdam
from adgcl.objectives.info_nce import Directions, contrast, contrast_backward


class Learner:
    """`InfoNCE(f(G), f(G with weighted edges))` with all its gradients, and the update that follows."""

    def __init__(
        self, encoder: GIN, head: ProjectionHead, optimizer: PlayerAdam, temperature: float, directions: Directions
    ) -> None:
        self.player = Player(optimizer, [*encoder.layers.parameters(), *head.parameters()])
        self._trunk, self._head = Trunk(encoder, self.player), Head(encoder, head, self.player)
        self._temperature, self._both = temperature, directions == "both"

    def compare(
        self, places: Places, keep: Tensor, *, own: bool = True, learning: bool = True, spoiling: bool = False
    ) -> tuple[Tensor, Tensor]:
        """The loss and, if an augmenter is `spoiling`, its gradient with respect to the weights.

        `own` normalises every copy by its own statistics, as in training mode. With `learning` the gradients of encoder
        and head are added up.
        """
        out = self._trunk.forward(places, keep.data_ptr(), copies=2, own=own)
        loss, state = contrast(self._head.forward(places, out, copies=2), self._temperature, self._both)
        of_graphs = self._head.backward(contrast_backward(state, 1.0), learning)
        of_keep = torch.zeros(places.edges if spoiling else 0)
        self._trunk.backward(learning, of_keep.data_ptr() if spoiling else 0, of_graphs, self._head.every)
        return loss, of_keep
