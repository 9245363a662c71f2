"""What can be counted in a store: sizes, classes, missing labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from adgcl.core.schema import Features
from adgcl.graphs.store.adjacency import runs
from adgcl.graphs.store.store import GraphStore


@dataclass(frozen=True)
class Statistics:
    """Counts of a store.

    `avg_edges` counts an edge and its reverse once and ignores self-loops; `avg_directed_edges` counts
    every stored direction. `classes` has the graphs of each class; with several binary tasks, the positives
    of each task.
    """

    graphs: int
    avg_nodes: float
    min_nodes: int
    max_nodes: int
    avg_edges: float
    avg_directed_edges: float
    max_directed_edges: int
    self_loops: int
    isolated_nodes: int
    edgeless_graphs: int
    directed: bool
    classes: dict[str, int]
    missing_label_share: float
    node_features: Features
    edge_features: Features


def count(store: GraphStore) -> Statistics:
    """Count a store."""
    graphs = max(len(store), 1)
    nodes, edges = store.node_counts, store.edge_counts
    counted = [_count_edges(store, first, last) for first, last in runs(store.edge_ptr)]
    loops, isolated, pairs = (sum(column) for column in zip((0, 0, 0), *counted, strict=True))
    return Statistics(
        graphs=len(store),
        avg_nodes=store.num_nodes / graphs,
        min_nodes=int(nodes.min()) if len(nodes) else 0,
        max_nodes=int(nodes.max(initial=0)),
        avg_edges=pairs / graphs,
        avg_directed_edges=store.num_edges / graphs,
        max_directed_edges=int(edges.max(initial=0)),
        self_loops=loops,
        isolated_nodes=isolated,
        edgeless_graphs=int((edges == 0).sum()),
        directed=store.edge_reverse is None,
        classes=_class_counts(store),
        missing_label_share=0.0 if store.y is None or not store.y.size else float(np.isnan(store.y).mean()),
        node_features=store.spec.node,
        edge_features=store.spec.edge,
    )


def _count_edges(store: GraphStore, first: int, last: int) -> tuple[int, int, int]:
    """Self-loops, nodes without any other edge, and undirected edges of the graphs from `first` to `last`."""
    start, end = store.node_ptr[first], store.node_ptr[last]
    edges = slice(store.edge_ptr[first], store.edge_ptr[last])
    source = store.edge_source[edges] + np.repeat(store.node_ptr[first:last] - start, store.edge_counts[first:last])
    target = np.repeat(np.arange(end - start), store.in_degree[start:end])
    apart = source != target
    source, target = source[apart], target[apart]
    touched = np.zeros(end - start, dtype=bool)
    touched[source] = touched[target] = True
    if store.edge_reverse is not None:
        pairs = len(source) // 2
    else:
        pairs = len(np.unique(np.minimum(source, target) * (end - start) + np.maximum(source, target)))
    return len(apart) - len(source), len(touched) - int(touched.sum()), pairs


def _class_counts(store: GraphStore) -> dict[str, int]:
    task, y = store.task, store.y
    if y is None or task.kind not in ("multiclass", "binary"):
        return {}
    if task.kind == "binary" and task.num_tasks > 1:
        names = task.names or tuple(str(i) for i in range(task.num_tasks))
        return {name: int(total) for name, total in zip(names, np.nansum(y, axis=0), strict=True)}
    known = y[~np.isnan(y)].astype(np.int64)
    num_classes = task.num_classes if task.kind == "multiclass" else 2
    totals = np.bincount(known, minlength=num_classes)
    names = task.names if task.kind == "multiclass" and task.names else tuple(map(str, range(len(totals))))
    return {name: int(total) for name, total in zip(names, totals, strict=True)}
