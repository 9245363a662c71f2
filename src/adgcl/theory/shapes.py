"""Shapes: every graph of n nodes up to isomorphism, and which shape each labelled graph has.

A labelled graph is a number whose bits are its edges. Applying all permutations of the nodes to one graph marks all
labelled graphs of its shape in a table, so that looking up the shape of any subgraph costs one read. Nodes may have
colours; only permutations that keep them count.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement, permutations

import networkx
import numpy as np
import numpy.typing as npt

from adgcl.theory.information import Ints

# Labelled graphs are scanned for one without a shape in pieces of this many.
_PIECE = 4096


@dataclass(frozen=True, eq=False)
class Palette:
    """The labelled graphs with one colouring of the nodes, `colours [n]` in ascending order.

    `shape_of [2^edges]` is the shape of each, `images [permutations, edges]` the bit that a permutation moves each
    edge to.
    """

    colours: tuple[int, ...]
    shape_of: npt.NDArray[np.int32]
    images: Ints


@dataclass(frozen=True, eq=False)
class Shapes:
    """All shapes of `nodes` nodes with at most `num_colours` colours.

    Shape i is the labelled graph `masks[i]` of palette `palette_of[i]`, the smallest of its number.
    """

    nodes: int
    num_colours: int
    palettes: tuple[Palette, ...]
    masks: Ints
    palette_of: Ints

    def __len__(self) -> int:
        return len(self.masks)

    def palette(self, shape: int) -> Palette:
        return self.palettes[self.palette_of[shape]]

    def bits(self, shape: int) -> Ints:
        """The edges of a shape as positions in `edge_list`."""
        return np.flatnonzero(self.masks[shape] >> np.arange(len(edge_list(self.nodes))) & 1)

    def automorphisms(self, shape: int) -> Ints:
        """Where each permutation that keeps the shape moves each of all possible edges `[automorphisms, edges]`."""
        images = self.palette(shape).images
        kept = _moved(images, self.bits(shape)) == self.masks[shape]
        found: Ints = images[kept]
        return found

    def orbits(self, shape: int) -> Ints:
        """The orbit of each edge of a shape under its automorphisms, numbered from 0."""
        bits = self.bits(shape)
        if not len(bits):
            return bits
        smallest = self.automorphisms(shape)[:, bits].min(axis=0)
        orbit: Ints = np.unique(smallest, return_inverse=True)[1]
        return orbit

    def graph(self, shape: int) -> networkx.Graph:
        """A shape as a NetworkX graph; with several colours every node has the attribute `label`."""
        graph = networkx.empty_graph(self.nodes)
        edges = edge_list(self.nodes)
        graph.add_edges_from(edges[bit] for bit in self.bits(shape).tolist())
        if self.num_colours > 1:
            networkx.set_node_attributes(graph, dict(enumerate(self.palette(shape).colours)), "label")
        return graph

    def find(self, graph: networkx.Graph) -> int:
        """The shape of a graph without colours."""
        place = {node: i for i, node in enumerate(graph)}
        number = {edge: bit for bit, edge in enumerate(edge_list(self.nodes))}
        bits = [number[min(place[u], place[v]), max(place[u], place[v])] for u, v in graph.edges]
        return int(self.palettes[0].shape_of[sum(1 << bit for bit in bits)])


def edge_list(nodes: int) -> list[tuple[int, int]]:
    """The pairs of nodes that an edge can join; edge i is bit i of a labelled graph."""
    return list(combinations(range(nodes), 2))


def all_shapes(nodes: int, num_colours: int = 1) -> Shapes:
    """Every graph of this many nodes up to isomorphism."""
    palettes: list[Palette] = []
    masks: list[int] = []
    owner: list[int] = []
    for colours in combinations_with_replacement(range(num_colours), nodes):
        images = _edge_images(nodes, colours)
        shape_of = np.full(1 << len(edge_list(nodes)), -1, dtype=np.int32)
        for mask in _unmarked(shape_of):
            bits = np.flatnonzero(mask >> np.arange(images.shape[1]) & 1)
            shape_of[_moved(images, bits)] = len(masks)
            masks.append(mask)
            owner.append(len(palettes))
        palettes.append(Palette(colours, shape_of, images))
    return Shapes(nodes, num_colours, tuple(palettes), np.array(masks), np.array(owner))


def _edge_images(nodes: int, colours: tuple[int, ...]) -> Ints:
    """The bit that each permutation of equally coloured nodes moves each edge to `[permutations, edges]`."""
    order = np.array(list(permutations(range(nodes))))
    painted = np.array(colours)
    order = order[(painted[order] == painted).all(axis=1)]
    number = np.zeros((nodes, nodes), dtype=np.int64)
    edges = np.array(edge_list(nodes), dtype=np.int64).reshape(-1, 2)
    number[edges[:, 0], edges[:, 1]] = number[edges[:, 1], edges[:, 0]] = np.arange(len(edges))
    images: Ints = number[order[:, edges[:, 0]], order[:, edges[:, 1]]]
    return images


def _moved(images: Ints, bits: Ints) -> Ints:
    """The labelled graph with the edges `bits` after each permutation."""
    moved: Ints = (1 << images[:, bits]).sum(axis=1)
    return moved


def _unmarked(shape_of: npt.NDArray[np.int32]) -> Iterator[int]:
    """The labelled graphs that have no shape when their turn comes."""
    for start in range(0, len(shape_of), _PIECE):
        piece = shape_of[start : start + _PIECE]
        while (free := piece < 0).any():
            yield start + int(free.argmax())
