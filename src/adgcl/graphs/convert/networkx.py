"""NetworkX graphs to a GraphStore and back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from adgcl.core.errors import DataError
from adgcl.core.schema import FeatureSpec, Task
from adgcl.graphs.store.checks import side_by_side
from adgcl.graphs.store.labels import stack_labels
from adgcl.graphs.store.ranges import offsets
from adgcl.graphs.store.store import GraphStore, pack

if TYPE_CHECKING:
    import networkx

Array = npt.NDArray[Any]
_CODES = frozenset({"x", "label", "edge_attr"})


def from_networkx(
    graphs: Iterable[networkx.Graph],
    *,
    node_attributes: Sequence[str] | None = None,
    edge_attributes: Sequence[str] | None = None,
    spec: FeatureSpec | None = None,
    task: Task | None = None,
) -> GraphStore:
    """Pack NetworkX graphs; nodes may have any names and keep their order.

    An undirected edge becomes two. Attributes become features in alphabetical order, unless the names to use
    are given; `x` stands alone (with `x_num`, as `to_networkx` writes them). Text, truth values, integer
    `label` (renumbered) and integer `x` or `edge_attr` (as they are) are categories; all other numbers, such
    as `weight`, and lists of numbers are real. The label of a graph is its attribute `y`, or else `label`.
    """
    graphs = list(graphs)
    if not graphs:
        raise DataError("There are no graphs.", "At least one graph is needed.")
    pairs, edge_rows = zip(*(_edges(graph) for graph in graphs), strict=True)
    node_rows = [[data for _, data in graph.nodes(data=True)] for graph in graphs]
    x, x_num = _features(node_rows, node_attributes, "node")
    edge_attr, edge_num = _features(list(edge_rows), edge_attributes, "edge")
    y, task = stack_labels(*_graph_labels(graphs, task))
    names = [str(graph.graph.get("name", "")) for graph in graphs]
    return pack(
        [len(rows) for rows in node_rows],
        [len(rows) for rows in edge_rows],
        np.concatenate(pairs, axis=1),
        x=x,
        x_num=x_num,
        edge_attr=edge_attr,
        edge_num=edge_num,
        y=y,
        ids=names if all(names) else None,
        spec=spec,
        task=task,
    )


def to_networkx(store: GraphStore, index: int) -> networkx.Graph:
    """Graph `index` as a NetworkX graph on the nodes 0..n-1, with the attributes `from_networkx` reads.

    It is directed if some edge has no opposite or the two differ, a multigraph if an edge is repeated.
    """
    import networkx

    one = store.select([index])
    source, target = one.edge_source.astype(np.int64), one.edge_target()
    kept = _one_of_each_two(one)
    simple = networkx.DiGraph if kept is None else networkx.Graph
    multiple = networkx.MultiDiGraph if kept is None else networkx.MultiGraph
    kept = np.arange(len(source)) if kept is None else kept
    repeated = len(np.unique(source * one.num_nodes + target)) < len(source)
    graph = multiple() if repeated else simple()
    nodes = _records({"x": one.x, "x_num": one.x_num}, np.arange(one.num_nodes))
    graph.add_nodes_from(enumerate(nodes))
    records = _records({"edge_attr": one.edge_attr, "edge_num": one.edge_num}, kept)
    graph.add_edges_from(zip(source[kept].tolist(), target[kept].tolist(), records, strict=True))
    if one.y is not None:
        whole = one.task.kind == "multiclass" and not np.isnan(one.y).any()
        graph.graph["y"] = (one.y[0].astype(np.int64) if whole else one.y[0]).tolist()
    if one.ids is not None:
        graph.graph["name"] = one.id_of(0)
    return graph


def _one_of_each_two(store: GraphStore) -> Array | None:
    """One of each pair of opposite edges; None if some edge has no opposite with the same attributes."""
    if store.edge_reverse is None:
        return None
    opposite = store.edge_reverse.astype(np.int64)
    tables = [table for table in (store.edge_attr, store.edge_num) if table is not None]
    if not all(np.array_equal(table, table[opposite]) for table in tables):
        return None
    return np.flatnonzero(np.arange(len(opposite)) <= opposite)


def _records(tables: dict[str, Any], rows: Array) -> list[dict[str, Any]]:
    """One dictionary of attributes per row."""
    names = [name for name, table in tables.items() if table is not None]
    columns = [tables[name][rows].tolist() for name in names]
    if not names:
        return [{} for _ in rows]
    return [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]


def _edges(graph: networkx.Graph) -> tuple[Array, list[dict[str, Any]]]:
    """Sources and targets by node position, and the attributes of each edge; both ways if undirected."""
    position = {node: i for i, node in enumerate(graph)}
    edges = list(graph.edges(data=True))
    pair = np.array([(position[u], position[v]) for u, v, _ in edges], dtype=np.int64).reshape(-1, 2).T
    rows = [data for _, _, data in edges]
    if graph.is_directed():
        return pair, rows
    apart = np.flatnonzero(pair[0] != pair[1])
    return np.concatenate((pair, pair[::-1, apart]), axis=1), rows + [rows[i] for i in apart]


def _graph_labels(graphs: list[Any], task: Task | None) -> tuple[list[Array | None], Task | None]:
    """The label of each graph; names of classes are numbered in sorted order."""
    values = [graph.graph.get("y", graph.graph.get("label")) for graph in graphs]
    texts = sorted({value for value in values if isinstance(value, str)})
    if texts:
        values = [texts.index(value) if isinstance(value, str) else value for value in values]
        task = task or Task("multiclass", num_classes=len(texts), names=tuple(texts))
    return [None if value is None else np.asarray(value) for value in values], task


def _features(
    rows: list[list[dict[str, Any]]], chosen: Sequence[str] | None, what: str
) -> tuple[Array | None, Array | None]:
    """The categorical and the real columns of all nodes or edges."""
    flat = [row for graph in rows for row in graph]
    names = sorted(set().union(*flat)) if chosen is None else list(chosen)
    if chosen is None and "x" in names:
        names = [name for name in names if name in ("x", "x_num")]
    codes: list[Array] = []
    reals: list[Array] = []
    for name in names:
        column = _column(name, flat, rows, what)
        (codes if column.dtype.kind in "iu" else reals).append(column)
    return side_by_side(codes), side_by_side(reals)


def _column(name: str, flat: list[dict[str, Any]], rows: list[list[dict[str, Any]]], what: str) -> Array:
    """One attribute as `[rows, width]`: integers if it is categories, else reals."""
    missing = next((i for i, row in enumerate(flat) if row.get(name) is None), None)
    if missing is not None:
        place = f"A {what} of graph {_graph_of(missing, rows)}"
        raise DataError(f"{place} has no attribute {name!r}, but others do.")
    try:
        values = np.array([row[name] for row in flat])
    except ValueError:
        values = np.array(None)
    if values.dtype.kind not in "biufU" or values.ndim not in (1, 2):
        hint = f"Say which attributes to use, for example {what}_attributes=[...]."
        raise DataError(f"The {what} attribute {name!r} is neither text nor numbers of one length.", hint)
    values = values.reshape(len(flat), -1)
    if values.dtype.kind in "bU" or (name == "label" and values.dtype.kind in "iu"):
        return np.stack([np.unique(column, return_inverse=True)[1] for column in values.T], axis=1)
    if name in _CODES and values.dtype.kind in "iu":
        if values.min() < 0:
            bad = _graph_of(int((values < 0).any(axis=1).argmax()), rows)
            raise DataError(f"{name!r} of a {what} of graph {bad} is negative.", "Number categories from 0.")
        return values.astype(np.int64)
    if not np.isfinite(values).all():
        bad = _graph_of(int((~np.isfinite(values)).any(axis=1).argmax()), rows)
        raise DataError(f"{name!r} of a {what} of graph {bad} is NaN or infinite.", "Fill or remove it.")
    return values.astype(np.float32)


def _graph_of(row: int, rows: list[list[dict[str, Any]]]) -> int:
    return int(np.searchsorted(offsets([len(graph) for graph in rows]), row, side="right")) - 1
