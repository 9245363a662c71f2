"""The page of a map: points on a canvas, the graph under the pointer, and its clusters in a table."""

from __future__ import annotations

from typing import Any

import numpy as np

from adgcl.core.progress import Count
from adgcl.insight.graph_map import Colouring, GraphMap
from adgcl.pages.drawing.compact import compact_pictures
from adgcl.pages.frame import render
from adgcl.pages.packing import base64_of, joined, plane


def map_page(made: GraphMap, colour: str | None = None, progress: Count | None = None) -> str:
    """The page as HTML; `colour` is the colouring that is shown first."""
    return render(
        "map",
        title=f"Map of {made.dataset.name}",
        scripts=("sorting.js", "pictures.js", "map.js"),
        data=map_content(made, colour, progress),
        lead=lead(made),
        label=f"Map of {len(made.dataset):,} graphs of {made.dataset.name}; the clusters below describe it in a table",
        clusters=_clusters(made),
        measured=[colouring.title for colouring in _measured(made)],
        footer=f"Made by adgcl map from {made.vectors.run.path}.",
    )


def map_content(made: GraphMap, colour: str | None = None, progress: Count | None = None) -> dict[str, Any]:
    """Everything that the script of a map reads."""
    pictures, labels = compact_pictures(made.dataset, progress)
    store = made.dataset.store
    ordered = sorted(made.colourings, key=lambda colouring: colouring.title != colour)
    return {
        "count": len(made.dataset),
        "names": [store.id_of(graph) for graph in range(len(store))],
        "smiles": None if made.dataset.smiles is None else list(made.dataset.smiles),
        "planes": [{"title": title, "points": plane(points)} for title, points in made.planes.items()],
        "colourings": [_coloured(colouring) for colouring in ordered],
        "pictures": {**joined(pictures), "labels": labels},
    }


def lead(made: GraphMap) -> str:
    """What the map shows, in words."""
    run, count = made.vectors.run, len(made.dataset)
    trained = str(run.checkpoint.data.get("name", "")) or "graphs in memory"
    left = f" ({made.vectors.left_out:,} more were left out at random)" if made.vectors.left_out else ""
    return (
        f"{count:,} graphs of {made.dataset.name}{left}, embedded by {run.method.title} trained on {trained} and laid "
        f"out by {next(iter(made.planes))}. Graphs that lie together look alike to the encoder; distances across the "
        "map mean little."
    )


def _coloured(colouring: Colouring) -> dict[str, Any]:
    if colouring.names:
        codes = np.where(colouring.values < 0, 65535, colouring.values).astype("<u2")
        return {"title": colouring.title, "names": list(colouring.names), "values": base64_of(codes)}
    known = colouring.values[np.isfinite(colouring.values)]
    # A few extremes must not leave everything else in one colour.
    low, high = (float(v) for v in np.quantile(known, [0.01, 0.99])) if len(known) else (0.0, 1.0)
    return {"title": colouring.title, "low": low, "high": high, "values": base64_of(colouring.values.astype("<f4"))}


def _measured(made: GraphMap) -> list[Colouring]:
    return [c for c in made.colourings if c.title not in ("cluster", "split")][:3]


def _clusters(made: GraphMap) -> list[dict[str, Any]]:
    """A row for each cluster: its size, the mean of what is known about its graphs, and a typical one."""
    store, cluster = made.dataset.store, made.clusters
    rows = []
    for number, centre in enumerate(made.centres.tolist()):
        own = cluster == number
        means = [_mean_of(colouring, own) for colouring in _measured(made)]
        name = {"number": number + 1, "count": int(own.sum()), "means": means}
        rows.append({**name, "typical": store.id_of(centre), "graph": centre})
    return rows


def _mean_of(colouring: Colouring, own: Any) -> dict[str, str]:
    """The mean of a number, or the commonest category with its share."""
    values = colouring.values[own]
    known = values[np.isfinite(values) & ((values >= 0) | (not colouring.names))]
    if not len(known):
        return {"text": "–", "sort": ""}
    if not colouring.names:
        return {"text": f"{known.mean():.3g}".replace("-", "−"), "sort": f"{known.mean():.6g}"}
    counts = np.bincount(known.astype(np.int64))
    share = counts.max() / counts.sum()
    return {"text": f"{colouring.names[int(counts.argmax())]}, {100 * share:.0f}%", "sort": f"{share:.6g}"}
