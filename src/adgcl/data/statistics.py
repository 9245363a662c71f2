"""What can be counted in a store: sizes, classes, missing labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from adgcl.core.schema import Features
from adgcl.graphs.ranges import IntArray
from adgcl.graphs.store import GraphStore


@dataclass(frozen=True)
class Statistics:
    """Counts of a store.

    `avg_edges` counts an edge and its opposite once and leaves self-loops aside; `avg_directed_edges` counts
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
    source, target = global_ends(store)
    loops = int((source == target).sum())
    touched = np.zeros(store.num_nodes, dtype=bool)
    touched[source[source != target]] = True
    touched[target[source != target]] = True
    return Statistics(
        graphs=len(store),
        avg_nodes=store.num_nodes / graphs,
        min_nodes=int(nodes.min()) if len(nodes) else 0,
        max_nodes=int(nodes.max(initial=0)),
        avg_edges=_undirected_edges(store, source, target, loops) / graphs,
        avg_directed_edges=store.num_edges / graphs,
        max_directed_edges=int(edges.max(initial=0)),
        self_loops=loops,
        isolated_nodes=store.num_nodes - int(touched.sum()),
        edgeless_graphs=int((edges == 0).sum()),
        directed=store.edge_reverse is None,
        classes=_class_counts(store),
        missing_label_share=0.0 if store.y is None or not store.y.size else float(np.isnan(store.y).mean()),
        node_features=store.spec.node,
        edge_features=store.spec.edge,
    )


def global_ends(store: GraphStore) -> tuple[IntArray, IntArray]:
    """Source and target of every edge as node numbers over the whole store."""
    first = np.repeat(store.node_ptr[:-1], store.edge_counts)
    return store.edge_source + first, np.repeat(np.arange(store.num_nodes), store.in_degree)


def _undirected_edges(store: GraphStore, source: IntArray, target: IntArray, loops: int) -> int:
    if store.edge_reverse is not None:
        return (store.num_edges - loops) // 2
    apart = source != target
    low, high = np.minimum(source, target)[apart], np.maximum(source, target)[apart]
    return len(np.unique(low * max(store.num_nodes, 1) + high))


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
