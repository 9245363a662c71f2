"""Checks on arrays before they are packed, with messages that name the faulty graph."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from adgcl.core.errors import DataError
from adgcl.core.schema import FeatureSpec
from adgcl.graphs.store.ranges import IntArray

Table = npt.NDArray[Any] | None
Ints = npt.NDArray[np.integer]


def ends(edge_index: Any) -> tuple[Ints, Ints]:
    """The two rows of `edge_index`, sources and targets, as integers."""
    pair = edge_index if len(edge_index) else ((), ())
    if len(pair) != 2:
        raise DataError(f"The edge index has {len(pair)} rows.", "It needs two: sources and targets.")
    source, target = (np.asarray(row).reshape(-1) for row in pair)
    if len(source) != len(target):
        raise DataError(f"There are {len(source)} sources but {len(target)} targets of edges.")
    return _signed(source), _signed(target)


def categories(codes: Ints | None) -> Ints | None:
    """Categorical codes as `[rows, columns]`; an array without columns is no features at all."""
    if codes is None:
        return None
    codes = two_dimensional(np.asarray(codes))
    if codes.shape[1] == 0:
        return None
    if codes.dtype.kind not in "iub":
        raise DataError(f"Categorical features are {codes.dtype}.", "Give real values as x_num or edge_num.")
    if codes.size and codes.min() < 0:
        raise DataError("A categorical feature is negative.", "Number categories from 0.")
    return codes


def reals(values: npt.ArrayLike | None, what: str) -> npt.NDArray[np.float32] | None:
    """Real-valued features as finite float32 `[rows, columns]`."""
    if values is None:
        return None
    array: npt.NDArray[np.float32] = two_dimensional(np.asarray(values, dtype=np.float32))
    if array.shape[1] == 0:
        return None
    bad = ~np.isfinite(array).all(axis=1)
    if bad.any():
        first = f"first: {what} row {int(bad.argmax())}"
        raise DataError(
            f"{int(bad.sum())} {what} rows have NaN or infinite features ({first}).",
            "Fill or remove these values before packing the graphs.",
        )
    return array


def labels(y: npt.ArrayLike | None, count: int) -> npt.NDArray[np.float64] | None:
    """Labels as float64 `[graphs, tasks]`."""
    if y is None:
        return None
    table = np.atleast_1d(np.asarray(y, dtype=np.float64))
    if len(table) != count:
        raise DataError(f"There are {count} graphs but {len(table)} rows of labels.")
    return table.reshape(count, -1)


def names(ids: Sequence[str] | None, count: int) -> Sequence[str] | None:
    if ids is not None and len(ids) != count:
        raise DataError(f"There are {count} graphs but {len(ids)} names.")
    return ids


def check_lengths(
    node_ptr: IntArray,
    edge_ptr: IntArray,
    source: Ints,
    node_tables: tuple[Table, ...],
    edge_tables: tuple[Table, ...],
) -> None:
    """Counts, edges and feature rows must agree, and no graph may be empty."""
    if len(node_ptr) != len(edge_ptr):
        raise DataError(f"{len(node_ptr) - 1} node counts but {len(edge_ptr) - 1} edge counts.")
    if len(node_ptr) == 1:
        raise DataError("There are no graphs.", "At least one graph is needed.")
    empty = np.diff(node_ptr) < 1
    if empty.any():
        hint = "Remove empty graphs, or give each at least one node."
        raise DataError(f"Graph {int(empty.argmax())} has no nodes.", hint)
    if (np.diff(edge_ptr) < 0).any() or len(source) != edge_ptr[-1]:
        raise DataError(f"The edge counts add up to {edge_ptr[-1]}, but there are {len(source)} edges.")
    for what, total, tables in (("node", node_ptr[-1], node_tables), ("edge", edge_ptr[-1], edge_tables)):
        for rows in tables:
            if rows is not None and len(rows) != total:
                raise DataError(f"There are {total} {what}s but {len(rows)} rows of {what} features.")


def check_ends(source: Ints, target: Ints, limit: IntArray, graph_of_edge: IntArray) -> None:
    """Every edge must join two nodes of its graph."""
    bad = (source < 0) | (target < 0) | (source >= limit) | (target >= limit)
    if bad.any():
        edge = int(bad.argmax())
        raise DataError(
            f"Graph {graph_of_edge[edge]} has {limit[edge]} nodes, but an edge joins "
            f"{source[edge]} and {target[edge]} ({int(bad.sum())} such edges in all).",
            "Node numbers start at 0 in each graph.",
        )


def covering(spec: FeatureSpec, found: FeatureSpec) -> FeatureSpec:
    """`spec`, after checking that it describes the features that were `found`."""
    for what, declared, seen in (("node", spec.node, found.node), ("edge", spec.edge, found.edge)):
        fits = len(declared.sizes) == len(seen.sizes) and declared.num_dim == seen.num_dim
        if not fits or any(top > size for top, size in zip(seen.sizes, declared.sizes, strict=True)):
            raise DataError(
                f"The {what} features are declared as {declared.sizes} categories, {declared.num_dim} reals, "
                f"but the data has {seen.sizes} and {seen.num_dim}."
            )
    return spec


def _signed(numbers: npt.NDArray[Any]) -> Ints:
    """Integers as they are, except unsigned types so wide that numpy would add them as floats."""
    if numbers.size and numbers.dtype.kind not in "iu":
        raise DataError(f"The edge index is {numbers.dtype}, not integers.")
    narrow = numbers.dtype.kind in "iu" and numbers.dtype != np.uint64
    return numbers if narrow else numbers.astype(np.int64)


def two_dimensional(rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Rows over columns; a flat array is one column."""
    return rows.reshape(len(rows), math.prod(rows.shape[1:]))


def side_by_side(tables: Sequence[npt.NDArray[Any]]) -> Table:
    """The columns of all tables in one, or None if there are none."""
    return np.concatenate(tables, axis=1) if tables else None
