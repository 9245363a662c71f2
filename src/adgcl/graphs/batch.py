"""GraphBatch: a minibatch cut from a GraphStore without a Python loop over graphs."""

from __future__ import annotations

from dataclasses import dataclass, fields
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

    Row i of the adjacency (`crow`, `col`) lists the sources of the edges that point at node i. `target [E]` repeats i
    for each of them. `reverse [E]` is the position of the opposite edge, or None if some edge has none.
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
        return torch.stack((self.col, self.target))

    def owners(self, copies: int) -> Tensor:
        """The graph of every node, for several copies of the batch standing one after another."""
        if copies not in self._owners:
            self._owners[copies] = torch.cat([self.batch + copy * self.num_graphs for copy in range(copies)])
        return self._owners[copies]

    @cached_property
    def _owners(self) -> dict[int, Tensor]:
        return {1: self.batch}

    @cached_property
    def edge_share(self) -> Tensor:
        """Weights that average a number per edge, first over each graph's edges, then over the graphs that have any."""
        counts = np.diff(self.edge_ptr.cpu().numpy())
        share = 1.0 / (np.maximum(counts, 1) * max(np.count_nonzero(counts), 1))
        return torch.from_numpy(np.repeat(share.astype(np.float32), counts)).to(self.device)

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

    def to(self, device: torch.device) -> GraphBatch:
        """The same batch on another device."""
        if self.device == device:
            return self
        moved: dict[str, Any] = {
            f.name: None if (value := getattr(self, f.name)) is None else value.to(device, non_blocking=True)
            for f in fields(self)
        }
        return GraphBatch(**moved)


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
        crow=torch.from_numpy(offsets(in_degree)),
        col=torch.from_numpy(col),
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
