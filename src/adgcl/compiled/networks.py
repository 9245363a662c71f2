"""The networks of a step over flat buffers: a GIN, a projection head and the scores of edges."""

from __future__ import annotations

import copy
import math
import mmap
from contextlib import suppress
from typing import Any, Self

import torch
from torch import Tensor

from adgcl.augmentations.edge_drop import EdgeDrop
from adgcl.compiled.edge_scores import score_edges, score_edges_backward
from adgcl.compiled.gin import gin_forward
from adgcl.compiled.gin_backward import gin_backward
from adgcl.compiled.players import Player
from adgcl.compiled.projection import project, project_backward
from adgcl.encoders.gin import GIN
from adgcl.encoders.heads import ProjectionHead
from adgcl.graphs.store.batch import GraphBatch

# Bytes of a large page on x86.
_LARGE_PAGE = 2 << 20


class Scratch:
    """Memory that is reused in every step and grows to fit the largest batch."""

    def __init__(self) -> None:
        self._held: dict[str, tuple[int, int, Tensor | None]] = {}

    def __call__(self, name: str, size: int) -> int:
        """The address of `size` numbers that are used under no other name."""
        room, address, _ = self._held.get(name, (-1, 0, None))
        if room < size:
            room = size + size // 4
            numbers = _room_for(room)
            address = numbers.data_ptr()
            self._held[name] = room, address, numbers
        return address

    def numbers(self, name: str, *shape: int) -> Tensor:
        """What was last written under a name."""
        held = self._held[name][2]
        assert held is not None
        return held[: math.prod(shape)].view(shape)


def _room_for(count: int) -> Tensor:
    """Memory for numbers, on large pages where the system has them: a step walks through many megabytes of it."""
    size = 4 * count
    if size < _LARGE_PAGE or not hasattr(mmap, "MADV_HUGEPAGE"):
        return torch.empty(count)
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with suppress(OSError):  # A kernel without large pages.
        memory.madvise(mmap.MADV_HUGEPAGE)
    return torch.frombuffer(memory, dtype=torch.float32)


class Places:
    """Where the arrays of a batch, and the rows `x` that enter the first layer, are in memory."""

    def __init__(self, batch: GraphBatch, x: Tensor) -> None:
        back_crow, back_col, position = batch.transposed
        self._held = (batch, x, back_crow, back_col, position)
        self.count, self.graphs, self.edges = batch.num_nodes, batch.num_graphs, batch.num_edges
        self.x, self.node_ptr, self.owner = x.data_ptr(), batch.node_ptr.data_ptr(), batch.batch.data_ptr()
        self.edge_arrays = batch.crow.data_ptr(), batch.col.data_ptr()
        self.back_arrays = back_crow.data_ptr(), back_col.data_ptr(), position.data_ptr()


class Network:
    """Something with parameters that goes forward and then backward, and keeps in between what it needs for that."""

    _scratch: Scratch

    def twin(self) -> Self:
        """The same parameters with memory of their own: both can go forward before either goes backward."""
        twin = copy.copy(self)
        twin._scratch = Scratch()
        return twin


class Trunk(Network):
    """The layers of a GIN; one forward pass, then optionally its backward pass."""

    def __init__(self, encoder: GIN, player: Player) -> None:
        layers: list[Any] = list(encoder.layers)
        self.inputs, self.width, self.layers = layers[0].first.in_features, encoder.config.hidden_dim, len(layers)
        self._player, self._first = player, layers[0].first.weight
        norms = [layer.norm for layer in layers]
        self._eps, self._momentum = norms[0].eps, norms[0].momentum
        self._running = torch.empty(self.layers, 2, self.width)
        for norm, (mean, var) in zip(norms, self._running):
            for name, flat in (("running_mean", mean), ("running_var", var)):
                norm._buffers[name] = flat.copy_(norm._buffers[name])
        self._scratch = Scratch()

    def forward(self, places: Places, keep: int, copies: int, own: bool) -> int:
        """The address of the rows after each layer `[layers, copies * nodes, width]`."""
        scratch, width, rows = self._scratch, self.width, copies * places.count
        area = rows * width
        self._notes = (
            scratch("sums", rows * self.inputs + self.layers * area),
            *(scratch(name, self.layers * area) for name in ("hidden", "before", "out")),
            scratch("stats", self.layers * copies * 2 * width),
        )
        self._pass = places, keep, copies, int(own)
        gin_forward(
            self._player.address(self._first), self._running.data_ptr(), places.x, *places.edge_arrays, keep,
            *self._notes, scratch("weights", (self.inputs + width) * width + width * width), copies, places.count,
            self.inputs, width, self.layers, int(own), self._eps, self._momentum,
        )  # fmt: skip
        return self._notes[3]

    @property
    def last_rows(self) -> int:
        """The address of the rows after the last layer."""
        places, _, copies, _ = self._pass
        return self._notes[3] + 4 * (self.layers - 1) * copies * places.count * self.width

    @property
    def into_first(self) -> Tensor:
        """The gradient of what the first layer's first product gives `[copies * nodes, width]`, once backward."""
        places, _, copies, _ = self._pass
        return self._scratch.numbers("inner", copies * places.count, self.width)

    def incoming(self) -> int:
        """Where the gradient of the last rows is to be written, if it does not come from graphs."""
        places, _, copies, _ = self._pass
        return self._scratch("grad", copies * places.count * self.width)

    def backward(self, learning: bool, of_keep: int = 0, of_graphs: int = 0, every: bool = False) -> None:
        """Add to the gradients of the parameters, if they are learning, and of the last copy's edge weights."""
        places, keep, copies, own = self._pass
        area = copies * places.count * self.width
        gin_backward(
            self._player.address(self._first), self._player.gradient(self._first) if learning else 0, places.x,
            *places.edge_arrays, *places.back_arrays, places.owner, keep, of_keep, of_graphs, int(every), *self._notes,
            self.incoming(), self._scratch("inner", area), self._scratch("at_sums", area),
            self._scratch("pulls", (self.inputs + 2) * self.width), 0 if learning else copies - 1, copies,
            places.count, places.graphs, self.inputs, self.width, self.layers, own,
        )  # fmt: skip


class Head(Network):
    """Readout and projection head on top of a Trunk."""

    def __init__(self, encoder: GIN, head: ProjectionHead, player: Player) -> None:
        config = encoder.config
        self.every, self.wide = config.layers == "all", encoder.node_dim
        self._shape = config.hidden_dim, config.num_layers, int(self.every), int(config.readout == "mean")
        self._player, self._first = player, next(head.parameters())
        self._scratch = Scratch()

    def forward(self, places: Places, out: int, copies: int) -> Tensor:
        """`z [copies * graphs, D]`."""
        self._places, self._copies = places, copies
        z = torch.empty(copies * places.graphs, self.wide)
        self._pooled, self._hidden = (self._scratch(name, z.numel()) for name in ("pooled", "hidden"))
        project(
            self._player.address(self._first), out, places.node_ptr, self._pooled, self._hidden, z.data_ptr(),
            self._scratch("weights", self.wide * self.wide), copies, places.count, places.graphs, *self._shape,
        )  # fmt: skip
        return z

    def backward(self, of_z: Tensor, learning: bool = True) -> int:
        """The address of what each node gets from its graph; adds to the gradients if the head is learning."""
        inner, of_pooled = (self._scratch(name, of_z.numel()) for name in ("inner", "of_pooled"))
        project_backward(
            self._player.address(self._first), self._player.gradient(self._first) if learning else 0,
            self._places.node_ptr, self._pooled, self._hidden, of_z.data_ptr(), inner, of_pooled, self._copies,
            self._places.graphs, *self._shape,
        )  # fmt: skip
        return of_pooled

    @property
    def of_graphs(self) -> Tensor:
        """What the last backward pass gave to each node of a graph, a row per graph."""
        return self._scratch.numbers("of_pooled", self._copies * self._places.graphs, self.wide)


class Scores(Network):
    """The edge scores of an augmenter on top of a Trunk."""

    def __init__(self, augmenter: EdgeDrop, player: Player) -> None:
        self._sizes = augmenter.width, augmenter.gate.mlp_dim
        self._player, self._first = player, next(augmenter.ends.parameters())
        self._scratch = Scratch()

    def forward(self, places: Places, rows: int) -> Tensor:
        """A logit for every edge."""
        width, inner = self._sizes
        self._places, self._rows = places, rows
        self._shares = self._scratch("shares", places.count * 2 * inner)
        logits = torch.empty(places.edges)
        score_edges(
            self._player.address(self._first), rows, *places.edge_arrays, self._shares, logits.data_ptr(),
            self._scratch("weights", 2 * inner * (width + 1)), places.count, width, inner,
        )  # fmt: skip
        return logits

    def backward(self, of_logits: Tensor, of_rows: int) -> None:
        """Add to the gradients of the parameters and write that of the rows."""
        width, inner = self._sizes
        score_edges_backward(
            self._player.address(self._first), self._player.gradient(self._first), self._rows,
            *self._places.edge_arrays, self._shares, of_logits.data_ptr(),
            self._scratch("passed", self._places.count * 2 * inner), of_rows, self._places.count, width, inner,
        )  # fmt: skip
