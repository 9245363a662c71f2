"""The table of an explanation: a row for every bond, with every number that the page shows."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np

from adgcl.core.errors import OutputError
from adgcl.core.files import atomic_write
from adgcl.insight.explanation import TRAINED, UNTRAINED, Explanation

TABLES = (".parquet", ".csv")


def bond_columns(made: Explanation) -> dict[str, Any]:
    """Columns by name: the graph, both ends, traits, keep probabilities in both directions and what follows."""
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


def write_bonds(made: Explanation, path: Path) -> None:
    """Write the table as .parquet or .csv."""
    ending = path.suffix.lower()
    if ending not in TABLES:
        raise OutputError(f"A table of bonds cannot end in {path.suffix!r}.", f"Use one of {', '.join(TABLES)}.")
    columns = bond_columns(made)
    atomic_write(path, lambda part: write_columns(part, columns, ending))


def write_columns(path: Path, columns: dict[str, Any], ending: str) -> None:
    """Columns of equal length as a Parquet or CSV file; numbers keep nine digits."""
    if ending == ".parquet":
        import pyarrow as pa
        from pyarrow import parquet

        parquet.write_table(pa.table({name: pa.array(values) for name, values in columns.items()}), path)
        return
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        texts = [[_text(value) for value in values] for values in columns.values()]
        writer.writerows(zip(*texts))


def _text(value: Any) -> str:
    if isinstance(value, float | np.floating):
        return "" if np.isnan(value) else f"{value:.9g}"
    return str(value)
