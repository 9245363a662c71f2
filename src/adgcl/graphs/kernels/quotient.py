"""Quotient: nodes that a network cannot tell apart are computed once.

A layer gives equal rows to nodes with equal rows and equal neighbourhoods, and molecules are full of those: after one
layer a batch of 64 has three to five nodes per distinct one, after five layers still five per four. Weisfeiler-Lehman
colours say which nodes are equal, so every layer can run on one node of each class. The results are the same, and the
products of wide layers are a quarter to a half smaller.
"""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor

from adgcl.graphs.kernels.distinct import distinct
from adgcl.graphs.kernels.matrix import rows
from adgcl.graphs.kernels.structure import Colours, wl_colours
from adgcl.graphs.store.batch import GraphBatch
from adgcl.graphs.store.ranges import IntArray, concatenated_ranges, offsets


@dataclass(frozen=True, eq=False)
class Block:
    """The messages of one layer, from classes of nodes before it to classes after it.

    `own [K]` is the class before the layer of each class after it, `counts [K]` how many nodes it stands for (None: one
    each). Message m goes from class `col[m]` before the layer to class `target[m]` after it along the batch's edge
    `edge[m]`, with weight `keep[m]` where there are weights.
    """

    own: Tensor
    counts: Tensor | None
    col: Tensor
    target: Tensor
    edge: Tensor
    keep: Tensor | None = None

    @property
    def num_nodes(self) -> int:
        """Classes after the layer."""
        return len(self.own)


@dataclass(frozen=True, eq=False)
class Quotient:
    """A block for every layer; one node of each class before the first layer (`first`) and after the last (`last`); the
    class of every node before the first (`initial`) and after each (`members`).
    """

    first: Tensor
    last: Tensor
    initial: Tensor
    blocks: tuple[Block, ...]
    members: tuple[Tensor, ...]


_made: WeakKeyDictionary[GraphBatch, dict[tuple[int, bool], Quotient]] = WeakKeyDictionary()


def quotient(batch: GraphBatch, layers: int, degrees: bool = False) -> Quotient:
    """The classes of a batch's nodes, made once however many networks of this depth ask for them.

    With `degrees`, nodes of different degree differ from the start, as they do for layers that divide by it.
    """
    known = _made.setdefault(batch, {})
    if (layers, degrees) not in known:
        known[layers, degrees] = _quotient(batch, layers, degrees)
    return known[layers, degrees]


def opening(batch: GraphBatch, classes: Quotient, edge_keep: Tensor | None, node_keep: Tensor | None) -> Block:
    """The first layer of a View: its weights make every node its own class, but there are as few classes before it."""
    every = torch.arange(batch.num_edges)
    return Block(classes.initial, node_keep, rows(classes.initial, batch.col), batch.target, every, edge_keep)


def _quotient(batch: GraphBatch, layers: int, degrees: bool) -> Quotient:
    colours = wl_colours(batch, layers, reals=True, degrees=degrees)
    first, member, _ = distinct(colours[0])
    initial = torch.from_numpy(member)
    blocks, members = [], []
    last = first
    for colour in colours[1:]:
        block, last, member = _block(batch, member, colour)
        blocks.append(block)
        members.append(torch.from_numpy(member))
    return Quotient(torch.from_numpy(first), torch.from_numpy(last), initial, tuple(blocks), tuple(members))


def _block(batch: GraphBatch, before: IntArray, colour: Colours) -> tuple[Block, IntArray, IntArray]:
    """The layer that turns classes `before` into those of `colour`, one node of each, and the class of every node."""
    nodes, after, counts = distinct(colour)
    starts = batch.crow.numpy()
    degree = starts[nodes + 1] - starts[nodes]
    edge = concatenated_ranges(starts[nodes], offsets(degree))
    arrays = (
        before[nodes],
        counts.astype(np.float32),
        before[batch.col.numpy()[edge]],
        np.repeat(np.arange(len(nodes)), degree),
        edge,
    )
    return Block(*(torch.from_numpy(array) for array in arrays)), nodes, after
