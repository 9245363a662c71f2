"""Folders that a report is made from: Records among other files, or a run's metrics."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from adgcl.core.errors import ConfigError, DataError
from adgcl.core.records import Record, read_records
from adgcl.core.trees import TreeError, fitted, parse_json, read_json
from adgcl.methods.base import METHODS
from adgcl.reports.curves import NAMES
from adgcl.training.run_config import resolve

_METRICS, _CONFIG = "metrics.jsonl", "config.json"


def find_records(folder: Path) -> list[Record]:
    """Every Record below `folder`, in the order of their file names, or an error that says why there is none."""
    folder = Path(folder)
    if not folder.is_dir():
        raise DataError(f"There is no folder {folder}.", "Give the folder that `adgcl evaluate --out` wrote into.")
    records = read_records(folder)
    if not records:
        raise _no_records(folder)
    return records


def is_run_folder(folder: Path) -> bool:
    """Whether `folder` holds a run's metrics instead of Records."""
    return (Path(folder) / _METRICS).is_file()


def read_metrics(folder: Path) -> list[dict[str, Any]]:
    """What a run measured, a row per epoch."""
    path = Path(folder) / _METRICS
    try:
        rows = [fitted(dict[str, float], parse_json(line)) for line in path.read_bytes().splitlines()]
        if any("epoch" not in row for row in rows):
            raise TreeError("an epoch without a number")
        return rows
    except (OSError, TreeError) as error:
        raise DataError(f"{folder} has damaged metrics: {error}.", "Resume the run; that repairs them.") from error


def kept_metrics(folder: Path) -> tuple[str, ...]:
    """The metrics that the run's method keeps; the usual ones if its settings cannot be read."""
    try:
        config = resolve(read_json(Path(folder) / _CONFIG)).method
    except (OSError, TreeError, ConfigError):
        return NAMES
    return METHODS[config.name].kept(config)


def _no_records(folder: Path) -> DataError:
    runs = sorted(path.parent for path in folder.rglob(_METRICS))
    judge = "adgcl evaluate DATA --out results"
    if not runs:
        return DataError(f"There are no Records in {folder}.", f"Make some with `{judge}`.")
    many = f"{len(runs)} runs" if len(runs) > 1 else "a run"
    return DataError(
        f"There are no Records in {folder}, only {many}.",
        f"Draw the curves of a run with `adgcl report {runs[0]} --out curves.svg`, or make Records with `{judge}`.",
    )
