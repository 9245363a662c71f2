"""GraphStore: any number of graphs packed in flat, narrow arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from adgcl.core.schema import Features, FeatureSpec, Task
from adgcl.graphs.store import checks
from adgcl.graphs.store.adjacency import sort_edges
from adgcl.graphs.store.ranges import IntArray, concatenated_ranges, offsets, smallest_unsigned

if TYPE_CHECKING:
    from adgcl.graphs.store.batch import GraphBatch

Ints = npt.NDArray[np.integer]
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False, repr=False)
class GraphStore:
    """Graphs one after another; edges of a graph sorted by target, then source.

    `in_degree [N]` and `edge_source [E]` are the rows and columns of each graph's sparse adjacency; node
    numbers are local to their graph. `edge_reverse [E]` is the local position of the opposite edge, or None
    when some edge has none. `x`, `edge_attr` are categorical codes, `x_num`, `edge_num` real values.
    """

    node_ptr: IntArray
    edge_ptr: IntArray
    in_degree: Ints
    edge_source: Ints
    edge_reverse: Ints | None
    x: Ints | None
    x_num: Floats | None
    edge_attr: Ints | None
    edge_num: Floats | None
    y: npt.NDArray[np.float64] | None
    ids: Sequence[str] | None
    spec: FeatureSpec
    task: Task

    def __len__(self) -> int:
        return len(self.node_ptr) - 1

    def __repr__(self) -> str:
        return f"GraphStore({self.summary()})"

    def summary(self) -> str:
        """Counts, task and features in a few words."""
        tasks = f"{self.task.num_tasks} x " if self.task.num_tasks > 1 else ""
        counts = f"graphs={len(self)}, nodes={self.num_nodes}, edges={self.num_edges}"
        return f"{counts}, task={tasks + self.task.kind!r}, features={self.spec.name!r}"

    @property
    def num_nodes(self) -> int:
        return int(self.node_ptr[-1])

    @property
    def num_edges(self) -> int:
        """Directed edges: an undirected bond counts twice."""
        return int(self.edge_ptr[-1])

    @cached_property
    def node_counts(self) -> IntArray:
        return np.diff(self.node_ptr)

    @cached_property
    def edge_counts(self) -> IntArray:
        return np.diff(self.edge_ptr)

    def counts_of(self, ids: IntArray) -> tuple[IntArray, IntArray]:
        """The nodes and edges of each of these graphs: less to keep in memory than those of all."""
        return self.node_ptr[ids + 1] - self.node_ptr[ids], self.edge_ptr[ids + 1] - self.edge_ptr[ids]

    def id_of(self, index: int) -> str:
        """The name its source gave graph `index`, or its number."""
        return str(self.ids[index]) if self.ids is not None else str(index)

    def batch(self, ids: npt.ArrayLike) -> GraphBatch:
        """Cut a minibatch of these graphs, in this order; a graph may appear twice."""
        from adgcl.graphs.store.batch import cut_batch

        return cut_batch(self, self.graph_numbers(ids))

    def graph_numbers(self, ids: npt.ArrayLike) -> IntArray:
        """`ids` as numbers 0..len-1: negative ones count from the end, a mask selects where it is true."""
        numbers = np.asarray(ids)
        if numbers.dtype == bool and numbers.shape == (len(self),):
            return np.flatnonzero(numbers)
        if numbers.size and (numbers.ndim != 1 or numbers.dtype.kind not in "iu"):
            raise IndexError(f"graph numbers must be a list of integers, not {numbers.dtype} {numbers.shape}")
        numbers = numbers.astype(np.int64, copy=False).reshape(-1)
        low, high = (numbers.min(), numbers.max()) if numbers.size else (0, -1)
        if low < -len(self) or high >= len(self):
            raise IndexError(f"there are {len(self)} graphs; asked for {low} to {high}")
        return numbers if low >= 0 else np.where(numbers < 0, numbers + len(self), numbers)

    def edge_target(self) -> IntArray:
        """Local target node of every edge, in store order."""
        node_local = np.arange(self.num_nodes) - np.repeat(self.node_ptr[:-1], self.node_counts)
        return np.repeat(node_local, self.in_degree)

    def select(self, ids: npt.ArrayLike) -> GraphStore:
        """A store of only these graphs, in this order."""
        ids = self.graph_numbers(ids)
        node_ends, edge_ends = offsets(self.node_counts[ids]), offsets(self.edge_counts[ids])
        nodes = concatenated_ranges(self.node_ptr[ids], node_ends)
        edges = concatenated_ranges(self.edge_ptr[ids], edge_ends)
        return replace(
            self,
            node_ptr=node_ends,
            edge_ptr=edge_ends,
            in_degree=self.in_degree[nodes],
            edge_source=self.edge_source[edges],
            edge_reverse=_taken(self.edge_reverse, edges),
            x=_taken(self.x, nodes),
            x_num=_taken(self.x_num, nodes),
            edge_attr=_taken(self.edge_attr, edges),
            edge_num=_taken(self.edge_num, edges),
            y=_taken(self.y, ids),
            ids=None if self.ids is None else [self.ids[i] for i in ids],
        )

    def with_labels(self, y: npt.NDArray[np.float64] | None, task: Task) -> GraphStore:
        return replace(self, y=y, task=task)


def pack(
    node_counts: npt.ArrayLike,
    edge_counts: npt.ArrayLike,
    edge_index: npt.ArrayLike | tuple[Ints, Ints],
    *,
    x: Ints | None = None,
    x_num: npt.ArrayLike | None = None,
    edge_attr: Ints | None = None,
    edge_num: npt.ArrayLike | None = None,
    y: npt.ArrayLike | None = None,
    ids: Sequence[str] | None = None,
    spec: FeatureSpec | None = None,
    task: Task | None = None,
    simple: bool = False,
) -> GraphStore:
    """Check and pack graphs given as flat arrays.

    `edge_index [2, E]` holds (source, target) as node numbers local to their graph, graph after graph, in any
    order within a graph. Node and edge rows follow the order of the counts. `simple` leaves out
    self-loops and all but the first of repeated edges.
    """
    node_ptr, edge_ptr = offsets(node_counts), offsets(edge_counts)
    source, target = checks.ends(edge_index)
    x, edge_attr = checks.categories(x), checks.categories(edge_attr)
    node_reals, edge_reals = checks.reals(x_num, "node"), checks.reals(edge_num, "edge")
    checks.check_lengths(node_ptr, edge_ptr, source, (x, node_reals), (edge_attr, edge_reals))
    found = _spec_of(x, node_reals, edge_attr, edge_reals)
    edges = sort_edges(source, target, node_ptr, edge_ptr, (edge_attr, edge_reals), simple)
    edge_codes, edge_reals = edges.tables
    return GraphStore(
        node_ptr=node_ptr,
        edge_ptr=offsets(edges.edge_counts),
        in_degree=edges.in_degree,
        edge_source=edges.source,
        edge_reverse=edges.reverse,
        x=None if x is None else smallest_unsigned(x),
        x_num=node_reals,
        edge_attr=None if edge_codes is None else smallest_unsigned(edge_codes),
        edge_num=edge_reals,
        y=checks.labels(y, len(node_ptr) - 1),
        ids=checks.names(ids, len(node_ptr) - 1),
        spec=found if spec is None else checks.covering(spec, found),
        task=task or Task("none", num_tasks=0),
    )


def _taken(array: Any, index: Ints) -> Any:
    return None if array is None else np.take(array, index, axis=0)


def _spec_of(x: Ints | None, x_num: Any, edge_attr: Ints | None, edge_num: Any) -> FeatureSpec:
    def sizes(codes: Ints | None) -> tuple[int, ...]:
        return () if codes is None else tuple(int(c) + 1 for c in codes.max(axis=0, initial=0))

    def width(values: Any) -> int:
        return 0 if values is None else values.shape[1]

    return FeatureSpec(Features(sizes(x), width(x_num)), Features(sizes(edge_attr), width(edge_num)))
