"""TU-format text files as a Dataset: `load_tu`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from adgcl.core.errors import DataError
from adgcl.core.schema import FeatureSpec, Task
from adgcl.data.dataset import Dataset, Origin
from adgcl.data.text.numbers import Kind, number_chunks, number_columns
from adgcl.data.text.tu_files import TuFiles, open_tu_files
from adgcl.graphs.store.adjacency import stable_order
from adgcl.graphs.store.labels import class_labels
from adgcl.graphs.store.ranges import IntArray, offsets, smallest_unsigned
from adgcl.graphs.store.store import pack

Array = npt.NDArray[Any]


def load_tu(path: str | Path, name: str | None = None) -> Dataset:
    """Read a TU-format folder or zip file of any name.

    Node labels become categorical columns, attributes real ones, graph labels classes 0..K-1 in sorted order.
    Self-loops and repeated lines of `A` are left out; an edge given in one direction only stays directed.
    """
    with open_tu_files(Path(path), name) as files:
        y, task = _graph_labels(files)
        nodes = _read_nodes(files, None if y is None else len(y))
        edges = _read_edges(files, nodes)
    (node_codes, node_values), (edge_codes, edge_values) = _numbered(nodes.labels), _numbered(edges.labels)
    store = pack(
        np.diff(nodes.ptr),
        edges.counts,
        edges.ends,
        x=node_codes,
        x_num=nodes.attributes,
        edge_attr=edge_codes,
        edge_num=edges.attributes,
        y=y,
        task=task,
        simple=True,
    )
    node, edge = replace(store.spec.node, values=node_values), replace(store.spec.edge, values=edge_values)
    store = replace(store, spec=FeatureSpec(node, edge, "tu"))
    repeats = int(edges.counts.sum()) - edges.num_loops - store.num_edges
    origin = Origin("tu", source=str(path), note=_note(edges.num_loops, repeats), self_loops=edges.num_loops)
    return Dataset(name or files.name, store, origin)


@dataclass(frozen=True)
class _Nodes:
    """Nodes in graph order: where graphs start, the graph and features of each, and where each one moved."""

    ptr: IntArray
    graph: Array
    labels: Array | None
    attributes: Array | None
    moved_to: Array | None


@dataclass(frozen=True)
class _Edges:
    """Edges in graph order, as sources and targets numbered within their graph."""

    counts: IntArray
    ends: tuple[Array, Array]
    labels: Array | None
    attributes: Array | None
    num_loops: int


def _graph_labels(files: TuFiles) -> tuple[Array | None, Task]:
    """Classes if there are graph labels, else reals from graph attributes, else no task."""
    if files.has("graph_labels"):
        where = files.file_name("graph_labels")
        columns = number_columns(files.pieces("graph_labels"), where, "float64")
        if len(columns) > 1:
            raise DataError(f"{where} has {len(columns)} columns.", "One label per graph is expected.")
        if (columns[0] == np.round(columns[0])).all():
            return class_labels(columns[0])
        return columns[0][:, None], Task("regression")
    targets = _table(files, "graph_attributes", "float64")
    if targets is None:
        return None, Task("none", num_tasks=0)
    return targets, Task("regression", num_tasks=targets.shape[1])


def _read_nodes(files: TuFiles, num_graphs: int | None) -> _Nodes:
    where = files.file_name("graph_indicator")
    graph = number_columns(files.pieces("graph_indicator"), where, "int32", width=1)[0] - 1
    count = _number_of_graphs(graph, where) if num_graphs is None else num_graphs
    outside = (graph < 0) | (graph >= count)
    if outside.any():
        row = int(outside.argmax())
        known = f"graphs are numbered from 1 to {count}"
        raise DataError(f"{where}, row {row + 1}: there is no graph {graph[row] + 1}; {known}.")
    sizes = np.bincount(graph, minlength=count)
    if (sizes == 0).any():
        raise DataError(f"Graph {int((sizes == 0).argmax()) + 1} has no node in {where}.")
    labels = _table(files, "node_labels", "int64")
    attributes = _table(files, "node_attributes", "float64")
    for part, rows in (("node_labels", labels), ("node_attributes", attributes)):
        _check_rows(files, part, rows, "graph_indicator", len(graph))
    if (np.diff(graph) >= 0).all():
        return _Nodes(offsets(sizes), graph, labels, attributes, None)
    order = np.argsort(graph, kind="stable")
    moved_to = np.empty_like(graph)
    moved_to[order] = np.arange(len(graph), dtype=graph.dtype)
    return _Nodes(offsets(sizes), graph[order], _taken(labels, order), _taken(attributes, order), moved_to)


def _number_of_graphs(graph: Array, where: str) -> int:
    """One more than the highest number of a graph; every graph has a node, so it cannot exceed the number of nodes."""
    count = int(graph.max()) + 1
    if count > len(graph):
        missing = np.setdiff1d(np.arange(len(graph) + 1), graph)[0]
        raise DataError(f"Graph {missing + 1} has no node in {where}, which has a graph {count}.")
    return count


def _read_edges(files: TuFiles, nodes: _Nodes) -> _Edges:
    parts, row = [], 0
    for source, target in number_chunks(files.pieces("A"), files.file_name("A"), "int32", width=2):
        parts.append(_local_edges(files, nodes, source, target, row))
        row += len(source)
    source, target, graph = (np.concatenate(column) for column in zip(*parts, strict=True))
    labels, attributes = _table(files, "edge_labels", "int64"), _table(files, "edge_attributes", "float64")
    for part, rows in (("edge_labels", labels), ("edge_attributes", attributes)):
        _check_rows(files, part, rows, "A", len(source))
    counts = np.bincount(graph, minlength=len(nodes.ptr) - 1)
    num_loops = int((source == target).sum())
    if (graph[1:] < graph[:-1]).any():
        order = stable_order(graph, len(counts))
        source, target = source[order], target[order]
        labels, attributes = _taken(labels, order), _taken(attributes, order)
    return _Edges(counts, (source, target), labels, attributes, num_loops)


def _local_edges(files: TuFiles, nodes: _Nodes, source: Array, target: Array, row: int) -> tuple[Array, Array, Array]:
    """Sources and targets as node numbers within their graph, and the graph; `row` lines came before."""
    where, count = files.file_name("A"), len(nodes.graph)
    if min(source.min(), target.min()) < 1 or max(source.max(), target.max()) > count:
        bad = int(((source < 1) | (source > count) | (target < 1) | (target > count)).argmax())
        raise DataError(
            f"{where}, row {row + bad + 1}: an edge joins nodes {source[bad]} and {target[bad]}; nodes are "
            f"numbered from 1 to {count}, one for each line of {files.file_name('graph_indicator')}."
        )
    source, target = source - 1, target - 1
    if nodes.moved_to is not None:
        source, target = nodes.moved_to[source], nodes.moved_to[target]
    graph = nodes.graph[source]
    apart = graph != nodes.graph[target]
    if apart.any():
        bad = int(apart.argmax())
        between = f"{graph[bad] + 1} and {nodes.graph[target[bad]] + 1}"
        raise DataError(f"{where}, row {row + bad + 1}: an edge joins nodes of two graphs, {between}.")
    first = nodes.ptr[graph]
    return smallest_unsigned(source - first), smallest_unsigned(target - first), graph


def _note(loops: int, repeats: int) -> str:
    counted = ((loops, "self-loops"), (repeats, "repeated edges"))
    return "; ".join(f"{count} {what} left out" for count, what in counted if count)


def _table(files: TuFiles, part: str, kind: Kind) -> Array | None:
    if not files.has(part):
        return None
    return np.stack(number_columns(files.pieces(part), files.file_name(part), kind), axis=1)


def _numbered(table: Array | None) -> tuple[Array | None, tuple[tuple[int, ...], ...]]:
    """Integer labels renumbered 0.. in sorted order, column by column, with no gaps; and the labels by number."""
    if table is None:
        return None, ()
    values, codes = zip(*(np.unique(column, return_inverse=True) for column in table.T), strict=True)
    return np.stack(codes, axis=1), tuple(tuple(column.tolist()) for column in values)


def _check_rows(files: TuFiles, part: str, rows: Array | None, reference: str, count: int) -> None:
    if rows is not None and len(rows) != count:
        other = files.file_name(reference)
        raise DataError(f"{files.file_name(part)} has {len(rows)} rows, but {other} has {count}.")


def _taken(rows: Array | None, order: Array) -> Array | None:
    return None if rows is None else rows[order]
