"""Tables of what was learned: every number that a page shows, as columns."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np

from adgcl.core.safe_text import csv_cell
from adgcl.insight.explanation import TRAINED, UNTRAINED, Explanation
from adgcl.insight.graph_map import GraphMap
from adgcl.insight.neighbours import Neighbours


def bond_columns(made: Explanation) -> dict[str, Any]:
    """A row for every bond of an explanation: the graph, both ends, traits, probabilities, changes of a prediction."""
    bonds = made.bonds
    rows = made.dataset.rows
    names = np.array([made.title_of(graph) for graph in range(len(made.dataset))], dtype=object)
    columns: dict[str, Any] = {
        "graph": names[bonds.graph],
        "row": (np.arange(len(made.dataset)) if rows is None else np.asarray(rows))[bonds.graph],
        "source": bonds.one,
        "target": bonds.other,
    }
    columns |= {trait.name: np.array(trait.values, dtype=object)[trait.code] for trait in made.traits}
    if made.keep is not None:
        columns |= {"keep_forth": made.keep[bonds.forth], "keep_back": made.keep[bonds.back]}
        columns |= {"keep": bonds.mean(made.keep), "drop": made.drop[TRAINED], "drop_untrained": made.drop[UNTRAINED]}
        columns |= {f"drop_seed_{i + 2}": made.dropped(keep) for i, keep in enumerate(made.seeds)}
    if made.importance is not None:
        columns |= {"prediction": made.importance.prediction[bonds.graph], "change": made.importance.change}
    return columns


def map_columns(made: GraphMap) -> dict[str, Any]:
    """A row for every graph of a map: its place in each layout, and what it is coloured by."""
    dataset = made.dataset
    columns: dict[str, Any] = {"id": np.array([dataset.store.id_of(i) for i in range(len(dataset))], dtype=object)}
    for title, points in made.planes.items():
        name = title.partition(" ")[0].replace("-", "").lower()
        columns |= {f"{name}_x": points[:, 0], f"{name}_y": points[:, 1]}
    for colouring in made.colourings:
        values = colouring.values
        if colouring.names:
            names = np.array([*colouring.names, ""], dtype=object)
            columns[colouring.title] = names[np.where(values < 0, len(colouring.names), values).astype(np.int64)]
        else:
            columns[colouring.title] = values
    return columns


def neighbour_columns(made: Neighbours) -> dict[str, Any]:
    """A row for every query, way of comparing and rank."""
    count, ranks = made.learned[0].shape
    asked = np.array([made.queries.store.id_of(i) for i in range(count)], dtype=object)
    names = np.array([made.dataset.store.id_of(i) for i in range(len(made.dataset))], dtype=object)
    parts = (("embedding", made.learned), (made.measure, made.known))
    return {
        "query": np.concatenate([np.repeat(asked, ranks)] * 2),
        "by": np.repeat(np.array([name for name, _ in parts], dtype=object), count * ranks),
        "rank": np.tile(np.arange(1, ranks + 1), 2 * count),
        "neighbour": np.concatenate([names[places].ravel() for _, (places, _) in parts]),
        "similarity": np.concatenate([values.ravel() for _, (_, values) in parts]),
    }


def write_columns(path: Path, columns: dict[str, Any], ending: str) -> None:
    """Columns of equal length as a Parquet or CSV file; numbers keep nine digits."""
    if ending == ".parquet":
        import pyarrow as pa
        from pyarrow import parquet

        parquet.write_table(pa.table({name: pa.array(values) for name, values in columns.items()}), path)
        return
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(map(csv_cell, columns))
        texts = [[_text(value) for value in values] for values in columns.values()]
        writer.writerows(zip(*texts))


def _text(value: Any) -> str:
    if isinstance(value, float | np.floating):
        return "" if np.isnan(value) else f"{value:.9g}"
    return csv_cell(value) if isinstance(value, str) else str(value)
