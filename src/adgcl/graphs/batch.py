"""GraphBatch: a minibatch cut from a GraphStore without a Python loop over graphs."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from adgcl.graphs.ranges import IntArray, concatenated_ranges, offsets
from adgcl.graphs.store import GraphStore


@dataclass(frozen=True, eq=False)
class GraphBatch:
    """Several graphs as one big sparse graph.

    Row i of the adjacency (`crow`, `col`) lists the sources of the edges that point at node i; `target [E]`
    repeats i for each of them. Both are 32 bits wide, which sparse products want. `reverse [E]` is the position of the opposite edge, or None if one has none.
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
        return torch.stack((self.col.long(), self.target))

    @cached_property
    def edge_batch(self) -> Tensor:
        """The graph of every edge."""
        return torch.repeat_interleave(
            torch.arange(self.num_graphs, device=self.device), self.edge_counts, output_size=self.num_edges
        )

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
        return crow.int(), self.target[order].int(), order

    @cached_property
    def twin(self) -> Twin:
        """Two copies of every graph as one batch: see `Twin`."""
        return _twin(self)

    def to(self, device: torch.device) -> GraphBatch:
        """The same batch on another device."""
        if self.device == device:
            return self
        moved: dict[str, Any] = {
            f.name: None if (value := getattr(self, f.name)) is None else value.to(device, non_blocking=True)
            for f in fields(self)
        }
        return GraphBatch(**moved)

    def with_x(self, x: Tensor | None, x_num: Tensor | None) -> GraphBatch:
        """The same graphs with other node features."""
        return replace(self, x=x, x_num=x_num)


@dataclass(frozen=True, eq=False)
class Twin:
    """Two copies of a batch in one, so that an original and its View share every kernel call.

    Node i of copy c is row `2 i + c`: the rows `[2 N, d]` are also `[N, 2 d]`, a node's two copies side by side.
    `first` and `second` are the positions of each edge's two copies among the twin's edges.
    """

    batch: GraphBatch
    first: Tensor
    second: Tensor

    def edge_keep(self, edge_keep: Tensor | None) -> Tensor | None:
        """Weights for the twin: all edges of the first copy stay, the second copy is weighted."""
        if edge_keep is None:
            return None
        return edge_keep.new_ones(2 * len(edge_keep)).index_copy(0, self.second, edge_keep)

    def edge_inputs(self, edges: tuple[Tensor, Tensor] | None) -> tuple[Tensor, Tensor] | None:
        """A `(table, code)` of the edges, for both copies of each."""
        if edges is None:
            return None
        table, code = edges
        both = code.new_empty(2 * len(code))
        return table, both.index_copy_(0, self.first, code).index_copy_(0, self.second, code)


def _twin(batch: GraphBatch) -> Twin:
    crow, ends = batch.crow[:-1], batch.crow[1:]
    edge = torch.arange(batch.num_edges, device=batch.device)
    # Row 2i starts at 2 crow[i] and row 2i + 1 at crow[i] + crow[i + 1].
    first = edge + crow.index_select(0, batch.target)
    second = edge + ends.index_select(0, batch.target)
    twin_crow = torch.stack((2 * crow, crow + ends), dim=1).reshape(-1)

    def spread(of_first: Tensor, of_second: Tensor) -> Tensor:
        out = of_first.new_empty(2 * batch.num_edges)
        return out.index_copy_(0, first, of_first).index_copy_(0, second, of_second)

    reverse = batch.reverse
    both = GraphBatch(
        node_ptr=batch.node_ptr * 2,
        edge_ptr=batch.edge_ptr * 2,
        batch=batch.batch.repeat_interleave(2),
        crow=torch.cat((twin_crow, batch.crow[-1:] * 2)),
        col=spread(2 * batch.col, 2 * batch.col + 1),
        target=spread(2 * batch.target, 2 * batch.target + 1),
        reverse=None if reverse is None else spread(first.index_select(0, reverse), second.index_select(0, reverse)),
    )
    return Twin(both, first, second)


def cut_batch(store: GraphStore, ids: IntArray) -> GraphBatch:
    """Gather the graphs `ids` of `store` into one batch."""
    if len(ids) == 0:
        raise ValueError("a batch needs at least one graph")
    node_ends, edge_ends = offsets(store.node_counts[ids]), offsets(store.edge_counts[ids])
    nodes = concatenated_ranges(store.node_ptr[ids], node_ends)
    edges = concatenated_ranges(store.edge_ptr[ids], edge_ends)
    in_degree = store.in_degree[nodes].astype(np.int64)
    edge_counts = np.diff(edge_ends)

    col = store.edge_source[edges] + np.repeat(node_ends[:-1], edge_counts)
    reverse = None
    if store.edge_reverse is not None:
        reverse = store.edge_reverse[edges] + np.repeat(edge_ends[:-1], edge_counts)
    return GraphBatch(
        node_ptr=torch.from_numpy(node_ends),
        edge_ptr=torch.from_numpy(edge_ends),
        batch=torch.from_numpy(np.repeat(np.arange(len(ids)), np.diff(node_ends))),
        crow=torch.from_numpy(offsets(in_degree).astype(np.int32)),
        col=torch.from_numpy(col.astype(np.int32)),
        target=torch.from_numpy(np.repeat(np.arange(len(nodes)), in_degree)),
        reverse=None if reverse is None else torch.from_numpy(reverse),
        x=_codes(store.x, nodes),
        x_num=_reals(store.x_num, nodes),
        edge_attr=_codes(store.edge_attr, edges),
        edge_num=_reals(store.edge_num, edges),
        y=_reals(store.y, ids),
    )


def _codes(array: Any, index: IntArray) -> Tensor | None:
    return None if array is None else torch.from_numpy(array[index].astype(np.int64))


def _reals(array: Any, index: IntArray) -> Tensor | None:
    return None if array is None else torch.from_numpy(array[index])
