"""Counts of a graph's parts: labels, degrees, and Weisfeiler-Lehman neighbourhoods."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from adgcl.graphs.store.batch import GraphBatch
from adgcl.graphs.store.ranges import IntArray

Colours = npt.NDArray[np.uint64]
Counts = npt.NDArray[np.float64]

# Odd factors lose nothing, and make the terms of a sum distinguishable.
_OWN, _FAR = np.uint64(3), np.uint64(5)
# Where bins of degrees begin: one for each degree up to 16, then one for each doubling; the last has no end.
DEGREE_BINS: IntArray = np.concatenate([np.arange(17), 2 ** np.arange(5, 13)])


def wl_colours(batch: GraphBatch, iterations: int, reals: bool = False, degrees: bool = False) -> list[Colours]:
    """The colours of all nodes: a hash of their labels, then repeatedly of their own and incoming colours.

    `c_i <- hash(c_i, sum over edges e = (j -> i) of hash(c_j, label_e))`. Equal neighbourhoods have equal colours in
    any graph; different ones collide once in 2^64. A sum (which wraps around and loses nothing) does not depend on the
    order of nodes or edges, and needs neither sorting nor a table of known colours. With `reals`, real values of nodes
    and edges are labels too, with `degrees` the number of edges that point at a node.
    """
    source = batch.col.numpy()
    starts = batch.crow.numpy().astype(np.int64)
    bond = _labels(batch.num_edges, batch.edge_attr, batch.edge_num if reals else None)
    colour = _labels(batch.num_nodes, batch.x, batch.x_num if reals else None)
    if degrees:
        colour = hashed(colour ^ np.diff(starts).astype(np.uint64))
    colours = [colour]
    for _ in range(iterations):
        total = np.zeros(batch.num_edges + 1, dtype=np.uint64)
        np.cumsum(hashed(_FAR * colour[source] + bond), out=total[1:])
        colour = hashed(_OWN * colour + (total[starts[1:]] - total[starts[:-1]]))
        colours.append(colour)
    return colours


def degree_bins(batch: GraphBatch) -> IntArray:
    """The bin of every node's degree: how many edges point at it."""
    degree = np.diff(batch.crow.numpy().astype(np.int64))
    return np.searchsorted(DEGREE_BINS, degree, side="right") - 1


def count_by_graph(batch: GraphBatch, bins: npt.NDArray[np.integer], width: int) -> Counts:
    """How many nodes of each graph lie in each of `width` bins `[graphs, width]`."""
    places = batch.batch.numpy() * width + bins.astype(np.int64)
    counts = np.bincount(places, minlength=batch.num_graphs * width)
    return counts.reshape(batch.num_graphs, width).astype(np.float64)


def _labels(count: int, codes: Tensor | None, values: Tensor | None) -> Colours:
    """One hash for all categories and real values of a node or an edge."""
    label = np.zeros(count, dtype=np.uint64)
    for columns in (codes, None if values is None else values.float().view(torch.int32)):
        for column in () if columns is None else columns.numpy().T:
            label = hashed(label ^ column.astype(np.uint64))
    return hashed(label)


def hashed(values: Colours) -> Colours:
    """Scramble 64 bits so that similar inputs look different (SplitMix64, Steele et al. 2014)."""
    bits = values + np.uint64(0x9E3779B97F4A7C15)
    bits ^= bits >> np.uint64(30)
    bits *= np.uint64(0xBF58476D1CE4E5B9)
    bits ^= bits >> np.uint64(27)
    bits *= np.uint64(0x94D049BB133111EB)
    bits ^= bits >> np.uint64(31)
    return bits
