"""PyTorch Geometric's `Data` to a GraphStore and back."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from adgcl.core.errors import DataError
from adgcl.core.extras import import_extra
from adgcl.core.schema import FeatureSpec, Task
from adgcl.graphs.store.checks import side_by_side, two_dimensional
from adgcl.graphs.store.labels import stack_labels
from adgcl.graphs.store.store import GraphStore, pack

if TYPE_CHECKING:
    from torch_geometric.data import Data

Array = npt.NDArray[Any]


def from_pyg(graphs: Iterable[Data], *, spec: FeatureSpec | None = None, task: Task | None = None) -> GraphStore:
    """Pack PyTorch Geometric graphs.

    Integer columns of `x` and `edge_attr` are categories, real ones stay real; `x_num` and `edge_num`, as
    `to_pyg` writes them, are further real columns. `y` is the label of the whole graph; NaN or no `y` is a
    missing label. What the labels mean is guessed unless `task` says it: one column of integers is classes.
    """
    graphs = list(graphs)
    if not graphs:
        raise DataError("There are no graphs.", "At least one graph is needed.")
    edge_index = [_edge_index(i, graph) for i, graph in enumerate(graphs)]
    nodes = [_num_nodes(i, graph) for i, graph in enumerate(graphs)]
    edges = [pair.shape[1] for pair in edge_index]
    x, x_num = _features(graphs, ("x", "x_num"), nodes, "node")
    edge_attr, edge_num = _features(graphs, ("edge_attr", "edge_num"), edges, "edge")
    y, task = stack_labels([_array(getattr(graph, "y", None)) for graph in graphs], task)
    return pack(
        nodes,
        edges,
        np.concatenate(edge_index, axis=1),
        x=x,
        x_num=x_num,
        edge_attr=edge_attr,
        edge_num=edge_num,
        y=y,
        spec=spec,
        task=task,
    )


def to_pyg(store: GraphStore, ids: npt.ArrayLike | None = None) -> list[Data]:
    """The graphs `ids` (all if None) as PyTorch Geometric's Data, edges in the store's order.

    `x` holds the categories, or the real columns if there are no categories; graphs that have both carry the
    real ones as `x_num`. Edges likewise. Classes become an integer `y`, other labels real `[1, tasks]`.
    PyTorch Geometric must be installed: `pip install "adgcl[pyg]"`.
    """
    import torch

    make = import_extra("torch_geometric.data", "pyg", "Making PyTorch Geometric graphs").Data
    chosen = range(len(store)) if ids is None else store.graph_numbers(ids)
    target = store.edge_target()
    graphs = []
    for i in chosen:
        nodes = slice(store.node_ptr[i], store.node_ptr[i + 1])
        edges = slice(store.edge_ptr[i], store.edge_ptr[i + 1])
        pair = np.stack((store.edge_source[edges].astype(np.int64), target[edges]))
        columns = _attributes("x", "x_num", store.x, store.x_num, nodes)
        columns |= _attributes("edge_attr", "edge_num", store.edge_attr, store.edge_num, edges)
        columns |= {"edge_index": pair} | _label(store, int(i))
        tensors = {name: torch.from_numpy(array) for name, array in columns.items()}
        graphs.append(make(num_nodes=int(store.node_counts[i]), **tensors))
    return graphs


def _attributes(codes_name: str, reals_name: str, codes: Any, reals: Any, rows: slice) -> dict[str, Array]:
    found = {} if codes is None else {codes_name: codes[rows].astype(np.int64)}
    if reals is not None:
        found[reals_name if found else codes_name] = np.array(reals[rows])
    return found


def _label(store: GraphStore, index: int) -> dict[str, Array]:
    if store.y is None:
        return {}
    row = np.array(store.y[index : index + 1])
    whole = store.task.kind == "multiclass" and not np.isnan(row).any()
    return {"y": row[0].astype(np.int64) if whole else row.astype(np.float32)}


def _array(value: Any) -> Array | None:
    """A tensor, array or number as a numpy array."""
    if value is None:
        return None
    if not hasattr(value, "detach"):
        return np.asarray(value)
    tensor = value.detach().cpu()
    # numpy has no bfloat16.
    return np.asarray((tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor).numpy())


def _edge_index(index: int, graph: Data) -> Array:
    if not hasattr(graph, "edge_index") or (graph.edge_index is None and "adj_t" in graph):
        raise DataError(f"Graph {index}, a {type(graph).__name__}, has no edge_index.", "Give plain Data.")
    pair = _array(graph.edge_index)
    if pair is None:
        return np.empty((2, 0), dtype=np.int64)
    if pair.ndim != 2 or len(pair) != 2 or pair.dtype.kind not in "iu":
        found = f"{pair.dtype} {pair.shape}"
        raise DataError(f"The edge_index of graph {index} is {found}, not integers [2, edges].")
    return pair


def _num_nodes(index: int, graph: Data) -> int:
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # PyG warns when it infers the number of nodes from the edges; that is intended here.
        count = graph.num_nodes
    if not count:
        raise DataError(f"Graph {index} has no nodes.", "Remove empty graphs, or set num_nodes.")
    return int(count)


def _features(
    graphs: list[Any], names: tuple[str, str], counts: list[int], what: str
) -> tuple[Array | None, Array | None]:
    """The categorical and the real columns of all graphs."""
    tables = [_table(graphs, name, counts, what) for name in names]
    codes = [t for t in tables if t is not None and t.dtype.kind in "iub"]
    reals = [t for t in tables if t is not None and t.dtype.kind == "f"]
    return side_by_side(codes), side_by_side(reals)


def _table(graphs: list[Any], name: str, counts: list[int], what: str) -> Array | None:
    """The rows of attribute `name` of all graphs, which must all be of one kind."""
    parts = [_array(getattr(graph, name, None)) for graph in graphs]
    if all(part is None for part in parts):
        return None
    rows = [_rows(i, name, part, counts[i], what) for i, part in enumerate(parts)]
    width, kind = rows[0].shape[1], rows[0].dtype.kind == "f"
    for i, part in enumerate(rows):
        if part.shape[1] != width:
            raise DataError(f"Graph {i} has {part.shape[1]} columns of {name}, but graph 0 has {width}.")
        if (part.dtype.kind == "f") != kind:
            raise DataError(f"{name} of graph {i} is {part.dtype}, but that of graph 0 is {rows[0].dtype}.")
    return np.concatenate(rows)


def _rows(index: int, name: str, part: Array | None, count: int, what: str) -> Array:
    if part is None:
        raise DataError(f"Graph {index} has no {name}, but others do.")
    if part.dtype.kind not in "iubf":
        raise DataError(f"{name} of graph {index} is {part.dtype}, not numbers.")
    if part.ndim == 0 or len(part) != count:
        found = 1 if part.ndim == 0 else len(part)
        raise DataError(f"Graph {index} has {count} {what}s, but {name} has {found} rows.")
    if part.dtype.kind == "f" and not np.isfinite(part).all():
        raise DataError(f"{name} of graph {index} has NaN or infinite values.", "Fill or remove them.")
    if part.dtype.kind == "i" and part.size and part.min() < 0:
        raise DataError(f"{name} of graph {index} has negative categories.", "Number categories from 0.")
    return two_dimensional(part)
