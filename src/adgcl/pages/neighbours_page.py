"""The page of neighbours: each query with its nearest graphs by embedding, and below them those by structure."""

from __future__ import annotations

from typing import Any

import numpy as np

from adgcl.core.progress import Count
from adgcl.data.dataset import Dataset
from adgcl.insight.neighbours import Neighbours
from adgcl.insight.vectors import selected
from adgcl.pages.drawing.compact import compact_pictures
from adgcl.pages.frame import render
from adgcl.pages.packing import joined


def neighbours_page(made: Neighbours, progress: Count | None = None) -> str:
    """The page as HTML."""
    count = made.learned[0].shape[1]
    return render(
        "neighbours",
        title=f"Neighbours in {made.dataset.name}",
        scripts=("pictures.js", "neighbours.js"),
        data=_content(made, progress),
        lead=_lead(made, count),
        facts=_facts(made, count),
        footer=f"Made by adgcl neighbours from {made.run.path}.",
    )


def _lead(made: Neighbours, count: int) -> str:
    trained = str(made.run.checkpoint.data.get("name", "")) or "graphs in memory"
    left = f" ({made.left_out:,} more were left out at random)" if made.left_out else ""
    return (
        f"The {count} graphs of {made.dataset.name} nearest to each of {len(made.queries):,} queries{left}: by the "
        f"embedding of {made.run.method.title} trained on {trained} (cosine), and by {made.measure}, which needs no "
        "training. Neighbours that both name have a blue frame."
    )


def _facts(made: Neighbours, count: int) -> list[dict[str, str]]:
    found = [
        {"value": f"{len(made.queries):,}", "text": f"queries among {len(made.dataset):,} graphs"},
        {"value": f"{100 * made.shared.mean():.0f}%", "text": "of neighbours by embedding are also near by structure"},
    ]
    likeness = made.likeness()
    if likeness:
        task = made.dataset.task
        name = task.names[0] if task.names and task.kind != "multiclass" else "label"
        regression = task.kind == "regression"
        for key, words in (("learned", "by embedding"), ("known", "by structure"), ("chance", "drawn at random")):
            text = f"mean difference of {name}, {words}" if regression else f"have the same {name}, {words}"
            value = f"{likeness[key]:.3g}" if regression else f"{100 * likeness[key]:.0f}%"
            found.append({"value": value, "text": f"{text}"})
    return found


def _content(made: Neighbours, progress: Count | None) -> dict[str, Any]:
    """Names, pictures and labels of the graphs that occur, and the neighbours of each query as places among them."""
    inside = (made.itself >= 0).all()
    used = np.unique(np.concatenate([made.learned[0].ravel(), made.known[0].ravel(), made.itself[made.itself >= 0]]))
    shown = selected(made.dataset, used)
    pictures, labels = compact_pictures(shown, progress)
    names, values = _named(shown), _values(shown)
    asked = np.searchsorted(used, made.itself)
    if not inside:
        more, table = compact_pictures(made.queries)
        pictures, labels = _appended(pictures, labels, more, table)
        names, values = names + _named(made.queries), values + _values(made.queries)
        asked = len(used) + np.arange(len(made.queries))
    return {
        "names": names,
        "values": values,
        "measure": made.measure,
        "queries": asked.tolist(),
        "learned": _ranked(made.learned, used),
        "known": _ranked(made.known, used),
        "pictures": {**joined(pictures), "labels": labels},
    }


def _ranked(found: Any, used: np.ndarray) -> dict[str, Any]:
    places, values = found
    return {"places": np.searchsorted(used, places).tolist(), "values": np.round(values.astype(float), 3).tolist()}


def _named(dataset: Dataset) -> list[str]:
    return [dataset.store.id_of(graph) for graph in range(len(dataset))]


def _values(dataset: Dataset) -> list[str]:
    """The first label of each graph, as it is printed below the picture."""
    y, task = dataset.store.y, dataset.task
    if y is None or task.kind == "none":
        return [""] * len(dataset)
    if task.kind == "multiclass":
        names = task.names if len(task.names) == task.num_classes else [str(i) for i in range(task.num_classes)]
        return ["" if np.isnan(value) else f"class {names[int(value)]}" for value in y[:, 0]]
    name = task.names[0] if task.names else "label"
    return ["" if np.isnan(value) else f"{name} {value:.3g}".replace("-", "−") for value in y[:, 0]]


def _appended(
    pictures: list[bytes], labels: list[str], more: list[bytes], table: list[str]
) -> tuple[list[bytes], list[str]]:
    """Pictures with another table of labels, renumbered behind the first."""
    every = [*labels, *(label for label in table if label not in labels)][:255]
    place = np.array([0, *(every.index(label) + 1 if label in every else 0 for label in table)], dtype=np.uint8)
    moved = []
    for content in more:
        data = np.frombuffer(content, dtype=np.uint8).copy()
        end = 4 + 3 * int(data[0])
        data[6:end:3] = place[data[6:end:3]]
        moved.append(data.tobytes())
    return pictures + moved, every
