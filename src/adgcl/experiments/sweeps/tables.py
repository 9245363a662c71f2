"""The folder of a sweep: tidy tables as CSV and Parquet, which later commands add data sets and seeds to."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from adgcl.core.config import differences
from adgcl.core.errors import OutputError
from adgcl.core.files import atomic_write, ensure_folder, write_json, write_text
from adgcl.core.locks import locked
from adgcl.core.provenance import machine, versions
from adgcl.experiments.sweeps.collecting import Row
from adgcl.experiments.sweeps.sweep import Sweep, SweepRequest

_ABOUT, _FORMAT = "sweep.json", "adgcl-sweep-1"
# The columns that say which trial a row is about, beside those of swept settings, which have a dot in their name.
_TRIAL = ("dataset", "arm", "seed")


def check_folder(request: SweepRequest) -> None:
    """Refuse a folder that holds the trials of another sweep, before anything runs."""
    path = request.out / _ABOUT
    if not path.exists():
        return
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
        found = differences(about["essence"], json.loads(json.dumps(request.essence)))
    except (ValueError, KeyError, TypeError) as error:
        raise OutputError(f"{path} cannot be read: {error}.", "Choose another folder with --out.") from error
    if found:
        raise OutputError(
            f"{request.out} holds another sweep ({'; '.join(found)[:200]}).", "Choose another folder with --out."
        )


def check_epochs(sweep: Sweep) -> None:
    """Refuse to lay trials of another length beside those of the same arm and data set that the folder holds."""
    out = sweep.request.out
    held = {(r["dataset"], r["arm"]): r["epochs"] for r in read_table(out, "trials") if r["status"] == "finished"}
    for trial in (trial for trial in sweep.trials if "training.epochs" not in trial.arm.grid):
        epochs = held.get((trial.data.name, trial.arm.name))
        if trial.job is not None and epochs not in (None, trial.job.plan.run.training.epochs):
            raise OutputError(
                f"{out} holds trials of {trial.arm.name} on {trial.data.name} with {epochs} epochs.",
                f"Add --epochs {epochs}, or choose another folder with --out.",
            )


def keep(request: SweepRequest, tables: Mapping[str, Sequence[Row]]) -> tuple[dict[str, list[Row]], list[Path]]:
    """Add these rows to the folder's tables; returns all rows that are there now, and the files."""
    ensure_folder(request.out)
    with locked(request.out, wait=True):
        check_folder(request)
        whole = {name: _joined(read_table(request.out, name), rows, tables["trials"]) for name, rows in tables.items()}
        paths = [path for name, rows in whole.items() for path in _write(request.out, name, rows)]
        here = {"commands": _commands(request), "versions": versions(), "machine": machine()}
        write_json(request.out / _ABOUT, {"format": _FORMAT, "essence": request.essence, **here})
    return whole, [request.out / _ABOUT, *paths]


def commands_of(folder: Path) -> list[str]:
    """Every command that has added to a folder, in order."""
    path = folder / _ABOUT
    about = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    # Folders of earlier versions know the last one alone.
    return list(about.get("commands") or filter(None, [about.get("command")]))


def _commands(request: SweepRequest) -> list[str]:
    return list(dict.fromkeys([*commands_of(request.out), request.command]))


def read_table(folder: Path, name: str) -> list[Row]:
    """The rows of a table, without the columns that a row does not have; empty if there is no such table."""
    import pyarrow.parquet as pq

    path = folder / f"{name}.parquet"
    if not path.exists():
        return []
    try:
        rows = pq.read_table(path).to_pylist()
    except (OSError, ValueError) as error:
        raise OutputError(f"{path} cannot be read: {error}.", "Delete it, and run the same command again.") from error
    return [{key: value for key, value in row.items() if value is not None} for row in rows]


def _joined(old: Sequence[Row], new: Sequence[Row], trials: Sequence[Row]) -> list[Row]:
    """Old rows of other trials, then new ones; in a lasting order."""
    again = {_trial(row) for row in trials}
    rows = [*(row for row in old if _trial(row) not in again), *new]
    return sorted(rows, key=lambda row: (str(row["dataset"]).lower(), row["seed"]))


def _trial(row: Row) -> tuple[Any, ...]:
    swept = sorted((key, value) for key, value in row.items() if "." in key and value is not None)
    return (*(row[key] for key in _TRIAL), *swept)


def _write(folder: Path, name: str, rows: Sequence[Row]) -> list[Path]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = list(dict.fromkeys(key for row in rows for key in row))
    # Settings first, then what came of them.
    columns.sort(key=lambda key: (key not in ("dataset", "arm"), "." not in key and key != "seed"))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    paths = [folder / f"{name}.csv", folder / f"{name}.parquet"]
    write_text(paths[0], text.getvalue())
    table = pa.table({key: [row.get(key) for row in rows] for key in columns})
    atomic_write(paths[1], lambda part: pq.write_table(table, part))
    return paths
