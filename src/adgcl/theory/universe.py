"""Universe: which graphs occur and how often, their classes under the 1-WL test, and what dropping edges can make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import networkx
import numpy as np
import numpy.typing as npt

from adgcl.graphs.kernels.wl_classes import wl_classes
from adgcl.graphs.store.store import GraphStore, pack
from adgcl.theory.information import Floats, Ints, added
from adgcl.theory.shapes import Shapes, all_shapes, edge_list

Weights = Literal["uniform", "labelled"]


@dataclass(frozen=True, eq=False)
class Universe:
    """Graphs G with probabilities P(G), and their 1-WL classes G'.

    `members [G]` are the shapes that occur, `weight [G]` their probabilities. `target_of [shapes]` numbers the classes
    of all shapes, members or not: an augmented graph may be any of them.
    """

    shapes: Shapes
    members: Ints
    weight: Floats
    target_of: Ints

    def __len__(self) -> int:
        return len(self.members)

    @cached_property
    def class_of(self) -> Ints:
        """The class G' of each graph, numbered from 0 among the classes that occur."""
        numbers: Ints = np.unique(self.target_of[self.members], return_inverse=True)[1]
        return numbers

    @property
    def num_classes(self) -> int:
        return int(self.class_of.max()) + 1

    @property
    def num_targets(self) -> int:
        return int(self.target_of.max()) + 1

    @cached_property
    def class_weight(self) -> Floats:
        """P(G') `[classes]`."""
        return added(self.class_of, self.weight)

    @cached_property
    def share(self) -> Floats:
        """P(G | G') `[G]`."""
        share: Floats = self.weight / self.class_weight[self.class_of]
        return share

    @cached_property
    def edges(self) -> Ints:
        """How many edges each graph has."""
        return np.array([len(self.shapes.bits(shape)) for shape in self.members.tolist()])

    @cached_property
    def target_edges(self) -> Ints:
        """How many edges the graphs of each target class have."""
        edges = np.zeros(self.num_targets, dtype=np.int64)
        edges[self.target_of] = [len(self.shapes.bits(shape)) for shape in range(len(self.shapes))]
        return edges

    @cached_property
    def cost(self) -> Floats:
        """The share of edges dropped from each graph on the way to each target `[G, targets]`; see `reachable`."""
        dropped = self.edges[:, None] - self.target_edges
        cost: Floats = dropped / np.maximum(self.edges, 1)[:, None]
        return cost

    @cached_property
    def copies(self) -> Floats:
        """How many subsets of each graph's edges give a graph of each target class `[G, targets]`."""
        counts = np.zeros((len(self), self.num_targets))
        for row, shape in enumerate(self.members.tolist()):
            counts[row] = np.bincount(self.target_of[self.subgraphs(shape)], minlength=self.num_targets)
        return counts

    @cached_property
    def reachable(self) -> npt.NDArray[np.bool_]:
        """Which targets each graph can become by losing edges `[G, targets]`."""
        return self.copies > 0

    def subgraphs(self, shape: int) -> Ints:
        """The shape that each subset of a shape's edges makes: subset b has the edges at the bits of b."""
        subset = np.zeros(1, dtype=np.int64)
        for bit in self.shapes.bits(shape).tolist():
            subset = np.concatenate((subset, subset | 1 << bit))
        return self.shapes.palette(shape).shape_of[subset].astype(np.int64)

    def merged(self, law: Floats) -> Floats:
        """T'(t | G') `[classes, targets]` from T(t | G) `[G, targets]`: the mean over the graphs of a class."""
        order = np.argsort(self.class_of, kind="stable")
        starts = np.searchsorted(self.class_of[order], np.arange(self.num_classes))
        merged: Floats = np.add.reduceat(law[order] * self.share[order, None], starts, axis=0)
        return merged

    def graph(self, index: int) -> networkx.Graph:
        return self.shapes.graph(int(self.members[index]))

    def store(self) -> GraphStore:
        """The graphs packed for an encoder."""
        return store_of(self.shapes, self.members)


def whole_universe(nodes: int, weights: Weights = "uniform", num_colours: int = 1) -> Universe:
    """All graphs of this many nodes: each isomorphism class as likely as any other, or each labelled graph."""
    shapes = all_shapes(nodes, num_colours)
    members = np.arange(len(shapes))
    if weights == "uniform":
        return _universe(shapes, members, np.ones(len(shapes)))
    # A shape has n! / |Aut| labelled graphs; colours are counted with them.
    labelled = [1 / len(shapes.automorphisms(i)) for i in range(len(shapes))]
    return _universe(shapes, members, np.array(labelled))


def universe_of(graphs: Sequence[networkx.Graph]) -> Universe:
    """A universe of these graphs alone, all with the same number of nodes and equally likely."""
    shapes = all_shapes(len(graphs[0]))
    return _universe(shapes, np.array([shapes.find(graph) for graph in graphs]), np.ones(len(graphs)))


def store_of(shapes: Shapes, members: Ints) -> GraphStore:
    """Shapes packed in a GraphStore, with colours as the category of nodes."""
    edges = np.array(edge_list(shapes.nodes)).T
    bits = [shapes.bits(shape) for shape in members.tolist()]
    pairs = edges[:, np.concatenate([np.tile(b, 2) for b in bits])]
    first_half = np.concatenate([np.repeat([True, False], len(b)) for b in bits])
    index = np.where(first_half, pairs, pairs[::-1])
    colours = np.concatenate([shapes.palette(shape).colours for shape in members.tolist()])
    x = colours[:, None] if shapes.num_colours > 1 else None
    return pack([shapes.nodes] * len(members), [2 * len(b) for b in bits], index, x=x)


def _universe(shapes: Shapes, members: Ints, weight: Floats) -> Universe:
    classes = wl_classes(store_of(shapes, np.arange(len(shapes))))
    return Universe(shapes, members, weight / weight.sum(), classes)
