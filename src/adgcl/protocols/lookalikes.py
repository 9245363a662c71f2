"""Lookalikes: graphs that the 1-WL test cannot tell apart, and the best score they leave any encoder.

An encoder that passes messages gives such graphs one embedding, and any probe gives one embedding one prediction. Where
their labels differ, no training and no probe can be right about all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from adgcl.core.progress import Progress
from adgcl.core.schema import Task
from adgcl.data.dataset import Dataset
from adgcl.graphs.kernels.wl_classes import wl_classes
from adgcl.graphs.store.store import GraphStore
from adgcl.protocols.metrics import task_scores
from adgcl.protocols.probes.selection import mean_defined
from adgcl.protocols.solvers.arrays import Floats, Ints


@dataclass(frozen=True)
class Lookalikes:
    """What an encoder that sees `sees` of the graphs cannot tell apart.

    `alike` graphs share a class with another. Of the `pairs` that share a class, `differing` have different labels.
    `ceiling` is the best score on the whole set, in the task's metric, of any function of the classes. The last two
    are None without labels.
    """

    sees: str
    graphs: int
    alike: int
    classes: int
    pairs: int
    differing: int | None
    ceiling: float | None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def find_lookalikes(dataset: Dataset, progress: Progress | None = None) -> list[Lookalikes]:
    """Compare all graphs by their structure alone, then with as much else as the data has."""
    found = []
    for sees, store in _views(dataset.store):
        count = None if progress is None else _named(progress, f"compare graphs by {sees}")
        found.append(_summary(sees, wl_classes(store, count), dataset))
    return found


def ceiling(task: Task, y: Floats, classes: Ints) -> float:
    """The best score of predictions that are equal within each class; NaN where the metric is undefined."""
    columns = [_best_predictions(task.metric, column, classes) for column in y.T]
    return float(mean_defined(task_scores(task.metric, y, np.stack(columns, axis=1)), 0))


def _views(store: GraphStore) -> Iterator[tuple[str, GraphStore]]:
    """The graphs as encoders may see them, from the least to the most."""
    bare = replace(store, x=None, x_num=None, edge_attr=None, edge_num=None)
    yield "structure", bare
    if store.x is not None:
        yield "node labels", replace(bare, x=store.x)
    if store.edge_attr is not None:
        nodes = "node and " if store.x is not None else ""
        yield f"{nodes}edge labels", replace(bare, x=store.x, edge_attr=store.edge_attr)
    if store.x_num is not None or store.edge_num is not None:
        yield "all features", store


def _summary(sees: str, classes: Ints, dataset: Dataset) -> Lookalikes:
    size = np.bincount(classes)
    y = dataset.store.y if dataset.task.kind != "none" else None
    return Lookalikes(
        sees=sees,
        graphs=len(classes),
        alike=int(size[size > 1].sum()),
        classes=len(size),
        pairs=int((size * (size - 1) // 2).sum()),
        differing=None if y is None else _differing(y, classes),
        ceiling=None if y is None else ceiling(dataset.task, y, classes),
    )


def _differing(y: Floats, classes: Ints) -> int:
    """Pairs of one class of which some label is known for both and differs."""
    order = np.argsort(classes, kind="stable")
    starts = np.flatnonzero(np.diff(classes[order], prepend=-1))
    total = 0
    for rows in np.split(order, starts[1:]):
        if len(rows) < 2:
            continue
        # Graphs with the same labels need not be compared one by one.
        kinds, count = np.unique(np.nan_to_num(y[rows], nan=np.inf), axis=0, return_counts=True)
        known = np.isfinite(kinds)
        apart = (known[:, None] & known & (kinds[:, None] != kinds)).any(axis=2)
        total += int(count @ apart @ count) // 2
    return total


def _best_predictions(metric: str, labels: Floats, classes: Ints) -> Floats:
    """For each graph the best prediction that its class allows; 0 for a class without labels."""
    known = np.flatnonzero(~np.isnan(labels))
    best = np.zeros(int(classes.max()) + 1)
    if metric in ("rmse", "rocauc"):
        # Ranking classes by their share of positives makes the ROC curve concave, which nothing lies above.
        count = np.bincount(classes[known], minlength=len(best))
        best = np.bincount(classes[known], labels[known], len(best)) / np.maximum(count, 1)
    elif metric == "mae":
        order = known[np.lexsort((labels[known], classes[known]))]
        owners, first, count = np.unique(classes[order], return_index=True, return_counts=True)
        best[owners] = labels[order[first + (count - 1) // 2]]
    else:
        values, code = np.unique(labels[known], return_inverse=True)
        votes = np.bincount(classes[known] * len(values) + code, minlength=len(best) * len(values))
        best = values[votes.reshape(len(best), len(values)).argmax(axis=1)] if len(values) else best
    predictions: Floats = best[classes]
    return predictions


def _named(progress: Progress, what: str) -> Any:
    return lambda done, total: progress(what, done, total)
