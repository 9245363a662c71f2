"""Is a store that comes from a file one that `pack` could have made? Compiled loops trust every number in it.

Checked once, when a file is opened, in runs of graphs that fit into the processor's cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from adgcl.core.schema import Features, Task
from adgcl.graphs.store.adjacency import runs
from adgcl.graphs.store.checks import Ints, Table
from adgcl.graphs.store.ranges import IntArray
from adgcl.graphs.store.store import GraphStore
from adgcl.graphs.store.strings import PackedStrings

_PIECE = 1 << 18
# Rows laid side by side before they are compared: the columns of one row alone are too few for vector instructions.
_ABREAST = 64


def fault(store: GraphStore) -> str:
    """The first thing that is wrong with a store, in words; empty if it is sound."""
    return next(_shape_faults(store), "") or next(_content_faults(store), "")


def _shape_faults(store: GraphStore) -> Iterator[str]:
    """Faults that need no look into the arrays, except those that say where each graph starts."""
    for name, pointer in (("node_ptr", store.node_ptr), ("edge_ptr", store.edge_ptr)):
        if pointer.dtype != np.int64 or pointer.ndim != 1 or len(pointer) < 2 or pointer[0] != 0:
            yield f"{name} does not say where graphs start"
            return
    if len(store.node_ptr) != len(store.edge_ptr):
        yield "as many graphs of nodes as of edges"
        return
    # Descending pointers could overflow in a difference, so they are compared.
    if (store.node_ptr[1:] <= store.node_ptr[:-1]).any() or (store.edge_ptr[1:] < store.edge_ptr[:-1]).any():
        yield "graphs that end before they start"
        return
    nodes, edges, graphs = store.num_nodes, store.num_edges, len(store)
    for name, array, length in (
        ("in_degree", store.in_degree, nodes),
        ("edge_source", store.edge_source, edges),
        ("edge_reverse", store.edge_reverse, edges),
    ):
        if array is not None and (array.dtype.kind != "u" or array.shape != (length,)):
            yield f"{name} is not {length} whole numbers"
    for name, table, kind, length, width in (
        ("x", store.x, "u", nodes, len(store.spec.node.sizes)),
        ("x_num", store.x_num, "f4", nodes, store.spec.node.num_dim),
        ("edge_attr", store.edge_attr, "u", edges, len(store.spec.edge.sizes)),
        ("edge_num", store.edge_num, "f4", edges, store.spec.edge.num_dim),
    ):
        if table is None and width and length:
            yield f"{name} is missing"
        if table is not None and (not table.dtype.str.lstrip("<|").startswith(kind) or table.shape != (length, width)):
            yield f"{name} is not a table of {length} rows and {width} columns"
    if store.y is not None and (store.y.dtype != np.float64 or store.y.ndim != 2 or len(store.y) != graphs):
        yield "the labels are not a table of numbers with a row per graph"
    if isinstance(store.ids, PackedStrings) and (not store.ids.is_sound() or len(store.ids) != graphs):
        yield "the names of graphs cannot be read"


def _content_faults(store: GraphStore) -> Iterator[str]:
    for first, last in runs(store.edge_ptr):
        yield from _edge_faults(store, first, last)
    for what, codes, reals, features in (
        ("node", store.x, store.x_num, store.spec.node),
        ("edge", store.edge_attr, store.edge_num, store.spec.edge),
    ):
        if codes is not None and not _codes_fit(codes, features):
            yield f"a {what} has a category that its column does not have"
        if reals is not None and not _all_finite(reals):
            yield f"a {what} has a feature that is not a finite number"
    if store.y is not None and not _labels_fit(store.y, store.task):
        yield "the labels do not fit their task"


def _edge_faults(store: GraphStore, first: int, last: int) -> Iterator[str]:
    """Faults of the edges of the graphs from `first` to `last`."""
    nodes, edges = _span(store.node_ptr, first, last), _span(store.edge_ptr, first, last)
    in_degree, node_counts, edge_counts = (
        store.in_degree[nodes], store.node_counts[first:last], store.edge_counts[first:last]
    )  # fmt: skip
    degree_sums = np.add.reduceat(in_degree, store.node_ptr[first:last] - nodes.start, dtype=np.int64)
    if (degree_sums != edge_counts).any():
        yield "the in-degrees of a graph do not add up to its edges"
        return
    source = store.edge_source[edges]
    if (source >= np.repeat(node_counts, edge_counts)).any():
        yield "an edge starts at a node that its graph does not have"
        return
    local = np.arange(nodes.stop - nodes.start) - np.repeat(store.node_ptr[first:last] - nodes.start, node_counts)
    target = np.repeat(local, in_degree)
    if store.edge_reverse is not None:
        starts, counts = (np.repeat(a, edge_counts) for a in (store.edge_ptr[first:last] - edges.start, edge_counts))
        yield from _reverse_faults(source, target, store.edge_reverse[edges], starts, counts)


def _reverse_faults(source: Ints, target: Ints, reverse: Ints, starts: IntArray, counts: IntArray) -> Iterator[str]:
    if (reverse >= counts).any():
        yield "the reverse of an edge is outside its graph"
        return
    place = starts + reverse
    back = (place[place] == np.arange(len(place))) & (source[place] == target) & (target[place] == source)
    if not back.all():
        yield "the reverse of an edge is another edge"


def _span(pointer: IntArray, first: int, last: int) -> slice:
    return slice(int(pointer[first]), int(pointer[last]))


def _codes_fit(codes: Ints, features: Features) -> bool:
    sizes = np.array(features.sizes)
    if (sizes > np.iinfo(codes.dtype).max).all():
        return True
    return all((_largest(piece) < sizes).all() for piece in _pieces(codes))


def _largest(codes: Ints) -> Ints:
    """The largest code of each column."""
    whole = len(codes) - len(codes) % _ABREAST
    side_by_side = codes[:whole].reshape(-1, _ABREAST * codes.shape[1]).max(axis=0, initial=0)
    top: Ints = side_by_side.reshape(_ABREAST, -1).max(axis=0)
    return np.maximum(top, codes[whole:].max(axis=0, initial=0))


def _all_finite(values: Table) -> bool:
    return all(np.isfinite(piece).all() for piece in _pieces(values))


def _labels_fit(y: npt.NDArray[np.float64], task: Task) -> bool:
    """Classes are numbered from 0, binary labels are 0 or 1, none is infinite; NaN is a missing label."""
    if task.kind == "none":
        return not np.isinf(y).any()
    if y.shape[1] != task.num_tasks:
        return False
    known = y[~np.isnan(y)]
    if task.kind == "regression":
        return bool(np.isfinite(known).all())
    top = task.num_classes if task.kind == "multiclass" else 2
    return bool(((known >= 0) & (known < top) & (known == np.floor(known))).all())


def _pieces(rows: Table) -> Iterator[Any]:
    assert rows is not None
    step = max(1, _PIECE // max(rows.shape[1], 1))
    return (rows[start : start + step] for start in range(0, len(rows), step))
