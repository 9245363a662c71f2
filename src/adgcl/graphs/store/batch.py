"""GraphBatch: a minibatch cut from a GraphStore without a Python loop over graphs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from adgcl.graphs.kernels.compiled import compiled, floats, ints
from adgcl.graphs.store.ranges import IntArray, concatenated_ranges, offsets
from adgcl.graphs.store.share import Share
from adgcl.graphs.store.store import GraphStore


@dataclass(frozen=True, eq=False)
class GraphBatch:
    """Several graphs as one large sparse graph.

    Row i of the adjacency (`crow`, `col`) lists the sources of the edges that point at node i. `target [E]` repeats i
    for each of them. `reverse [E]` is the position of the opposite edge, or None if some edge has none. A batch that
    several processes divide among themselves has a `share` in each of them.
    """

    node_ptr: Tensor
    edge_ptr: Tensor
    batch: Tensor
    crow: Tensor
    col: Tensor
    target: Tensor
    reverse: Tensor | None
    x: Tensor | None = None
    x_num: Tensor | None = None
    edge_attr: Tensor | None = None
    edge_num: Tensor | None = None
    y: Tensor | None = None
    share: Share | None = None

    @property
    def num_graphs(self) -> int:
        return len(self.node_ptr) - 1

    @property
    def num_nodes(self) -> int:
        return len(self.batch)

    @property
    def num_edges(self) -> int:
        return len(self.col)

    @property
    def device(self) -> torch.device:
        return self.batch.device

    @cached_property
    def edge_index(self) -> Tensor:
        """PyG's `[2, E]`: sources over targets."""
        return torch.stack((self.col, self.target))

    def owners(self, copies: int) -> Tensor:
        """The graph of every node, for several concatenated copies of the batch."""
        if copies not in self._owners:
            self._owners[copies] = torch.cat([self.batch + copy * self.num_graphs for copy in range(copies)])
        return self._owners[copies]

    @cached_property
    def _owners(self) -> dict[int, Tensor]:
        return {1: self.batch}

    @cached_property
    def edge_share(self) -> Tensor:
        """Weights that average a number per edge, first over each graph's edges, then over the graphs that have any."""
        ends, share = self.edge_ptr.cpu(), torch.empty(self.num_edges)
        _share(ends.data_ptr(), self.num_graphs, share.data_ptr())
        if self.share is not None:
            # Each process contributes to the mean over the graphs of all.
            share *= int((ends.diff() > 0).sum()) / (self.share.with_edges or 1)
        return share.to(self.device)

    def drawn(self, per: Literal["graphs", "nodes", "edges"], draw: Callable[[int], Tensor]) -> Tensor:
        """`draw(count)`: random numbers, one for each graph, node or edge.

        Processes that divide a batch all draw the same numbers for the whole of it and keep their own, so that noise
        does not depend on how many there are.
        """
        count: int = getattr(self, f"num_{per}")
        if self.share is None:
            return draw(count)
        before: int = getattr(self.share.before, per)
        return draw(getattr(self.share.whole, per))[before : before + count]

    def own(self, generator: torch.Generator) -> torch.Generator:
        """The generator of numbers whose count depends on the graphs: other processes cannot draw them as well."""
        return generator if self.share is None else self.share.generator

    @cached_property
    def ones(self) -> Tensor:
        """The weights of edges that are all kept."""
        return torch.ones(self.num_edges, device=self.device)

    @cached_property
    def node_counts(self) -> Tensor:
        return self.node_ptr.diff()

    @cached_property
    def edge_counts(self) -> Tensor:
        return self.edge_ptr.diff()

    @cached_property
    def transposed(self) -> tuple[Tensor, Tensor, Tensor]:
        """The adjacency by source: row pointer, targets, and the position of each entry in edge order.

        Where every edge has an opposite this costs nothing: the matrix is its own transpose and the
        positions are those of the opposite edges.
        """
        if self.reverse is not None:
            return self.crow, self.col, self.reverse
        order = torch.argsort(self.col, stable=True)
        counts = torch.bincount(self.col, minlength=self.num_nodes)
        crow = torch.cat((counts.new_zeros(1), counts.cumsum(0)))
        return crow, self.target.index_select(0, order), order

    @cached_property
    def loop_free(self) -> tuple[GraphBatch, Tensor | None]:
        """The batch without edges from a node to itself, and where the others were; itself and None if it has none."""
        kept = self.col != self.target
        if bool(kept.all()):
            return self, None
        before = torch.cat((kept.new_zeros(1, dtype=torch.int64), kept.cumsum(0)))
        places = kept.nonzero().squeeze(1)
        reverse = None if self.reverse is None else before[self.reverse[places]].to(self.reverse.dtype)
        columns = {name: getattr(self, name) for name in ("col", "target", "edge_attr", "edge_num")}
        changed: dict[str, Any] = {
            "crow": before[self.crow].to(self.crow.dtype),
            "edge_ptr": before[self.edge_ptr].to(self.edge_ptr.dtype),
            **{name: None if old is None else old.index_select(0, places) for name, old in columns.items()},
        }
        return replace(self, reverse=reverse, **changed), places

    def to(self, device: torch.device) -> GraphBatch:
        """The same batch on another device."""
        if self.device == device:
            return self
        moved: dict[str, Any] = {
            f.name: value.to(device, non_blocking=True) if isinstance(value := getattr(self, f.name), Tensor) else value
            for f in fields(self)
        }
        return GraphBatch(**moved)


def cut_batch(store: GraphStore, ids: IntArray) -> GraphBatch:
    """Gather the graphs `ids` of `store` into one batch."""
    if len(ids) == 0:
        raise ValueError("a batch needs at least one graph")
    node_ends, edge_ends = (offsets(counts) for counts in store.counts_of(ids))
    num_nodes, num_edges = int(node_ends[-1]), int(edge_ends[-1])
    batch, crow = np.empty(num_nodes, np.int64), np.empty(num_nodes + 1, np.int64)
    col, target = np.empty(num_edges, np.int64), np.empty(num_edges, np.int64)
    symmetric = store.edge_reverse is not None
    reverse = np.empty(num_edges if symmetric else 0, np.int64)
    # Plain arrays: the loop does not accept memory-mapped ones.
    packed = [np.asarray(a) for a in (store.in_degree, store.edge_source, store.edge_reverse if symmetric else reverse)]
    _cut(ids, store.node_ptr, store.edge_ptr, *packed, node_ends, edge_ends, batch, crow, col, target, reverse)
    as_tensor = torch.from_numpy
    features: dict[str, Any] = _features(store, ids, node_ends, edge_ends)
    return GraphBatch(
        node_ptr=as_tensor(node_ends),
        edge_ptr=as_tensor(edge_ends),
        batch=as_tensor(batch),
        crow=as_tensor(crow),
        col=as_tensor(col),
        target=as_tensor(target),
        reverse=as_tensor(reverse) if symmetric else None,
        **features,
    )


@compiled
def _share(edge_ptr: int, count: int, out: int) -> None:
    """`1 / (edges of its graph * graphs with edges)` for every edge."""
    ends = ints(edge_ptr, count + 1)
    share = floats(out, ends[count])
    linked = 0
    for k in range(count):
        linked += ends[k + 1] > ends[k]
    for k in range(count):
        edges = ends[k + 1] - ends[k]
        for e in range(ends[k], ends[k + 1]):
            share[e] = 1.0 / (edges * linked)


@compiled
def _cut(
    ids: Any, node_ptr: Any, edge_ptr: Any, in_degree: Any, source: Any, opposite: Any, node_ends: Any, edge_ends: Any,
    batch: Any, crow: Any, col: Any, target: Any, reverse: Any,
) -> None:  # fmt: skip
    """Copy the rows of every graph; numbers local to a graph become numbers in the batch."""
    node = 0
    crow[0] = 0
    for k in range(len(ids)):
        first, shift = edge_ends[k], node_ends[k]
        taken = edge_ptr[ids[k]]
        for e in range(edge_ends[k + 1] - first):
            col[first + e] = shift + np.int64(source[taken + e])
        for e in range(edge_ends[k + 1] - first if len(reverse) else 0):
            reverse[first + e] = first + np.int64(opposite[taken + e])
        for place in range(node_ptr[ids[k]], node_ptr[ids[k] + 1]):
            batch[node] = k
            crow[node + 1] = crow[node] + np.int64(in_degree[place])
            for e in range(crow[node], crow[node + 1]):
                target[e] = node
            node += 1


def _features(store: GraphStore, ids: IntArray, node_ends: IntArray, edge_ends: IntArray) -> dict[str, Tensor | None]:
    """The features of nodes and edges, and the labels of graphs."""
    nodes = edges = ids[:0]
    if store.x is not None or store.x_num is not None:
        nodes = concatenated_ranges(store.node_ptr[ids], node_ends)
    if store.edge_attr is not None or store.edge_num is not None:
        edges = concatenated_ranges(store.edge_ptr[ids], edge_ends)
    return {
        "x": _codes(store.x, nodes),
        "x_num": _reals(store.x_num, nodes),
        "edge_attr": _codes(store.edge_attr, edges),
        "edge_num": _reals(store.edge_num, edges),
        "y": _reals(store.y, ids),
    }


def _codes(array: Any, index: IntArray) -> Tensor | None:
    return None if array is None else torch.from_numpy(array[index].astype(np.int64))


def _reals(array: Any, index: IntArray) -> Tensor | None:
    return None if array is None else torch.from_numpy(array[index])
