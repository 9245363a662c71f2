"""A map of a data set: where each graph lies by its embedding, and everything it can be coloured by."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from adgcl.core.errors import UnknownNameError
from adgcl.core.progress import Progress
from adgcl.data.dataset import Dataset
from adgcl.experiments.source import Source
from adgcl.insight.projection import Plane, Projection, principal_components, projections
from adgcl.insight.vectors import Vectors, embed_source, standardised

MOST = 20_000
CLUSTERS = 8
_MOST_LABELS = 12
# Columns of a map's table that are not labels.
_OWN_COLUMNS = ("id", "cluster", "nodes", "split")


@dataclass(frozen=True, eq=False)
class Colouring:
    """Something points are coloured by: numbers (`values`, NaN: none), or categories (numbers of `names`, -1: none)."""

    title: str
    values: npt.NDArray[np.float64]
    names: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class GraphMap:
    """The planes by name (the first is shown first), colourings, and the graph nearest to each cluster's centre."""

    vectors: Vectors
    planes: dict[str, Plane]
    colourings: list[Colouring]
    centres: npt.NDArray[np.int64]

    @property
    def dataset(self) -> Dataset:
        return self.vectors.dataset

    @property
    def clusters(self) -> npt.NDArray[np.int64]:
        """The cluster of each graph."""
        return next(c.values for c in self.colourings if c.title == "cluster").astype(np.int64)


def map_data(
    place: str | Path,
    source: Source,
    *,
    projection: Projection = "auto",
    clusters: int = CLUSTERS,
    most: int = MOST,
    device: str = "auto",
    progress: Progress | None = None,
) -> GraphMap:
    """Embed `source` with a run, a model or a packaged encoder, and lay the graphs out on a plane."""
    vectors = embed_source(place, source, most=most, device=device, progress=progress)
    return make_map(vectors, projection, clusters, progress)


def make_map(
    vectors: Vectors, projection: Projection = "auto", clusters: int = CLUSTERS, progress: Progress | None = None
) -> GraphMap:
    """The map of graphs that are already embedded."""
    rows = standardised(vectors.matrix)
    if progress is not None:
        progress("lay out the map", 0, None)
    planes = projections(rows, projection)
    if progress is not None:
        progress("lay out the map", 1, 1)
    number, centres = _clustered(rows, min(clusters, len(rows)))
    return GraphMap(vectors, planes, _colourings(vectors.dataset, number, len(centres)), centres)


def check_colour(made: GraphMap, colour: str | None) -> None:
    """Refuse a colouring that the map does not have."""
    titles = [colouring.title for colouring in made.colourings]
    if colour is not None and colour not in titles:
        raise UnknownNameError("colouring", colour, titles)


def _clustered(rows: Any, count: int) -> tuple[Any, Any]:
    """K-means on the principal components; clusters are numbered by size, the largest first."""
    from sklearn.cluster import KMeans

    components, _ = principal_components(rows, 50)
    distinct = len(np.unique(components.round(5), axis=0))
    found = KMeans(min(count, distinct), n_init=3, random_state=0).fit(components)
    order = np.argsort(-np.bincount(found.labels_), kind="stable")
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    distance = found.transform(components)
    return place[found.labels_], distance.argmin(axis=0)[order]


def _colourings(dataset: Dataset, cluster: Any, clusters: int) -> list[Colouring]:
    store, task = dataset.store, dataset.task
    found: list[Colouring] = []
    if store.y is not None and task.kind != "none":
        for column in range(min(store.y.shape[1], _MOST_LABELS)):
            name = task.names[column] if task.kind != "multiclass" and column < len(task.names) else "label"
            if name in (*_OWN_COLUMNS, *(colouring.title for colouring in found)):
                name = f"{name} (label {column + 1})"
            values = store.y[:, column].astype(np.float64)
            found.append(Colouring(name, _as_codes(values, task.kind), _class_names(task)))
    found.append(Colouring("cluster", cluster.astype(np.float64), tuple(str(i + 1) for i in range(clusters))))
    found.append(Colouring("nodes", store.node_counts.astype(np.float64)))
    if dataset.split is not None:
        part = np.full(len(dataset), -1.0)
        names = [name for name in ("train", "valid", "test") if name in dataset.split]
        for number, name in enumerate(names):
            part[dataset.split[name]] = number
        found.append(Colouring("split", part, tuple(names)))
    return found


def _as_codes(values: Any, kind: str) -> Any:
    return values if kind == "regression" else np.where(np.isnan(values), -1.0, values)


def _class_names(task: Any) -> tuple[str, ...]:
    if task.kind == "regression":
        return ()
    if task.kind == "binary":
        return ("no (0)", "yes (1)")
    named = len(task.names) == task.num_classes
    return tuple(task.names) if named else tuple(str(i) for i in range(task.num_classes))
