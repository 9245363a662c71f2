"""Prediction tables on disk: CSV or Parquet, empty where there is nothing to say."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from adgcl.core.errors import OutputError
from adgcl.core.files import atomic_write, check_writable
from adgcl.core.safe_text import csv_cell
from adgcl.experiments.prediction import Column, Predicted

_ENDINGS = (".csv", ".parquet")


def check_target(path: Path) -> None:
    """Refuse an output file of an unknown kind, or in a place that cannot be written to, before any work is done."""
    if Path(path).suffix.lower() not in _ENDINGS:
        raise OutputError(
            f"A table of predictions cannot end in {Path(path).suffix or 'nothing'!r}.", f"Use {' or '.join(_ENDINGS)}."
        )
    check_writable(Path(path).parent)


def write_predictions(path: Path, predicted: Predicted) -> None:
    """Write one row per input row, in input order."""
    write = _write_csv if Path(path).suffix.lower() == ".csv" else _write_parquet
    atomic_write(Path(path), lambda part: write(part, predicted))


def _write_csv(path: Path, predicted: Predicted) -> None:
    columns = [map(csv_cell, predicted.ids), *(_texts(values) for values in predicted.columns.values())]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("id", *map(csv_cell, predicted.columns)))
        writer.writerows(zip(*columns, strict=True))


def _texts(values: Column) -> list[str]:
    """Numbers with nine digits, which bring back every float32 exactly; truth values as JSON writes them."""
    if values.dtype == object:
        return [_text(value) for value in values]
    return ["" if np.isnan(value) else f"{value:.9g}" for value in values]


def _text(value: str | bool | None) -> str:
    if isinstance(value, str):
        return csv_cell(value)
    return "" if value is None else str(value).lower()


def _write_parquet(path: Path, predicted: Predicted) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    columns = {"id": pa.array(predicted.ids, pa.string())}
    for name, values in predicted.columns.items():
        if values.dtype == object:
            columns[name] = pa.array(values.tolist(), pa.bool_() if name == "in_domain" else pa.string())
        else:
            columns[name] = pa.array(np.ascontiguousarray(values), pa.float32(), from_pandas=True)
    parquet.write_table(pa.table(columns), path)
