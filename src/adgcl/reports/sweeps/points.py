"""Trials as points: what one arm gave on one data set at each of its settings, as mean and spread over seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Row = dict[str, Any]
Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Point:
    """One setting: its value, and the rows of all its finished seeds."""

    value: Any
    rows: tuple[Row, ...]

    def all(self, column: str) -> Numbers:
        """A number of every seed."""
        return np.array([row[column] for row in self.rows if row.get(column) is not None], dtype=np.float64)

    def mean(self, column: str) -> float:
        values = self.all(column)
        return float(values.mean()) if len(values) else float("nan")

    def spread(self, column: str) -> float:
        """The standard deviation over seeds; 0 for one seed."""
        values = self.all(column)
        return float(values.std(ddof=1)) if len(values) > 1 else 0.0


def datasets_of(rows: Sequence[Row]) -> list[str]:
    """The data sets with a finished trial, in their order."""
    return list(dict.fromkeys(row["dataset"] for row in rows if row["status"] == "finished"))


def arms_of(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(row["arm"] for row in rows))


def swept(rows: Sequence[Row]) -> list[str]:
    """The settings that were tried with several values."""
    names = dict.fromkeys(key for row in rows for key in row if "." in key)
    return [name for name in names if len({str(row[name]) for row in rows if row.get(name) is not None}) > 1]


def points(rows: Sequence[Row], dataset: str, arm: str, setting: str = "") -> list[Point]:
    """The points of an arm on a data set in the order of a setting; one point if none is named."""
    mine = [
        row
        for row in rows
        if row["dataset"] == dataset and row["arm"] == arm and row.get("status", "finished") == "finished"
    ]
    values = list(dict.fromkeys(row.get(setting) for row in mine))
    if all(isinstance(value, int | float) for value in values):
        values.sort()
    return [Point(value, tuple(row for row in mine if row.get(setting) == value)) for value in values]


def higher_is_better(rows: Sequence[Row], dataset: str) -> bool:
    return bool(next(row["higher_is_better"] for row in rows if row["dataset"] == dataset and "metric" in row))


def metric_of(rows: Sequence[Row], dataset: str) -> str:
    names = {"rocauc": "ROC-AUC (%)", "accuracy": "accuracy (%)", "rmse": "RMSE", "mae": "MAE"}
    found = next(row["metric"] for row in rows if row["dataset"] == dataset and "metric" in row)
    return names.get(found, str(found))


def courses(rows: Sequence[Row], column: str) -> tuple[Numbers, Numbers, Numbers]:
    """Epochs, and the mean and spread over seeds of a column after each of them."""
    epochs = sorted({row["epoch"] for row in rows if row.get(column) is not None})
    values = [np.array([r[column] for r in rows if r["epoch"] == e and r.get(column) is not None]) for e in epochs]
    spread = [float(v.std(ddof=1)) if len(v) > 1 else 0.0 for v in values]
    return np.array(epochs, dtype=np.float64), np.array([v.mean() for v in values]), np.array(spread)
