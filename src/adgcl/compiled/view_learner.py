"""The learner of methods whose Views drop nodes, hide features or add edges: two batches, each in a pass of its own."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from adgcl.compiled.networks import Head, Trunk
from adgcl.compiled.players import Player
from adgcl.compiled.views import Seen
from adgcl.encoders.gin import GIN
from adgcl.encoders.heads import ProjectionHead
from adgcl.encoders.inputs import RawInputs
from adgcl.methods.optimizer import PlayerAdam
from adgcl.objectives.info_nce import Directions, contrast, contrast_backward

# Which head: the same for all graphs, or one number for each.
Choice = int | Tensor
# Fewer rows have no variance.
_FEWEST = 2


class Side:
    """One of the two batches that are compared, on its way through the encoder and a head."""

    def __init__(self, trunk: Trunk, heads: Sequence[Head]) -> None:
        self._trunk, self._heads = trunk, heads

    def forward(self, seen: Seen) -> None:
        """Through the layers, in training mode."""
        self._seen, keep = seen, seen.edge_keep
        own = seen.places.count >= _FEWEST
        self._out = self._trunk.forward(seen.places, keep.data_ptr() if keep is not None else 0, copies=1, own=own)

    def project(self, choice: Choice) -> Tensor:
        """`z` of every graph, by the head that `choice` names."""
        self._choice = choice
        if isinstance(choice, int):
            return self._heads[choice].forward(self._seen.places, self._out, copies=1)
        z = torch.stack([head.forward(self._seen.places, self._out, copies=1) for head in self._heads])
        return z[choice, torch.arange(len(choice))]

    def backward(self, of_z: Tensor) -> None:
        """Add to the gradients of the layers and of the heads that were used."""
        if isinstance(self._choice, int):
            of_graphs = self._heads[self._choice].backward(of_z)
            self._trunk.backward(True, 0, of_graphs, self._heads[0].every)
            return
        total = torch.zeros(len(of_z), self._heads[0].wide)
        for number, head in enumerate(self._heads):
            head.backward(torch.where((self._choice == number).unsqueeze(1), of_z, 0.0))
            total += head.of_graphs
        self._trunk.backward(True, 0, total.data_ptr(), self._heads[0].every)

    def of_mask(self, first_weight: Tensor) -> Tensor | None:
        """The gradient of the mask that hides features, or None if it hid none."""
        if self._seen.masked is None:
            return None
        return (self._seen.masked @ self._trunk.into_first) @ first_weight


class ViewLearner:
    """`InfoNCE(f(t(G)), f(t'(G)))` with all its gradients, and the update that follows.

    A parameter moves only if it took part, as with autograd: a mask that hides nothing and a head that no graph goes
    through have no gradient, and Adam leaves them alone. So each has a Player of its own.
    """

    def __init__(
        self,
        encoder: GIN,
        heads: Sequence[ProjectionHead],
        optimizer: PlayerAdam,
        temperature: float,
        directions: Directions,
    ) -> None:
        assert isinstance(encoder.inputs, RawInputs)
        self.layers = Player(optimizer, list(encoder.layers.parameters()))
        self.mask = Player(optimizer, [encoder.inputs.mask])
        self.heads = [Player(optimizer, list(head.parameters())) for head in heads]
        trunk = Trunk(encoder, self.layers)
        tops = [Head(encoder, head, player) for head, player in zip(heads, self.heads)]
        self._sides = Side(trunk, tops), Side(trunk.twin(), [top.twin() for top in tops])
        self._temperature, self._both = temperature, directions == "both"

    def see(self, seen: Seen, side: int) -> None:
        """Go through the layers with one of the two batches."""
        self._sides[side].forward(seen)

    def loss(self, *choices: Choice) -> Tensor:
        """How badly the graphs of both batches recognise each other, through these heads."""
        z = torch.cat([side.project(choice) for side, choice in zip(self._sides, choices, strict=True)])
        loss, self._contrast = contrast(z, self._temperature, self._both)
        self._used = range(len(self.heads)) if any(isinstance(c, Tensor) for c in choices) else {*choices}
        return loss

    def backward(self) -> None:
        """Add up the gradients of the last loss."""
        for side, of_z in zip(self._sides, contrast_backward(self._contrast, 1.0).chunk(2)):
            side.backward(of_z)
        slopes = [side.of_mask(self.layers.parameters[0]) for side in self._sides]
        self._hidden = any(slope is not None for slope in slopes)
        for slope in slopes:
            if slope is not None:
                self.mask.gradient_of(self.mask.parameters[0]).add_(slope)

    def update(self) -> None:
        """One step of Adam for everything that took part."""
        self.layers.update()
        for number in self._used:
            self.heads[number].update(counting=False)
        if self._hidden:
            self.mask.update(counting=False)
