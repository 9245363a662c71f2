"""A folder of Records in which a fuller Record takes the place of the poorer one it repeats."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from adgcl.core.errors import DataError
from adgcl.core.locks import locked
from adgcl.core.records import Record, read_record

# Settings that change where or how fast a run goes, but not what it finds.
_HARMLESS = ("seed", "threads", "device", "checkpoint_seconds")


def keep(record: Record, folder: Path) -> Path:
    """Save `record` unless the folder has the same or more; poorer ones with the same settings go."""
    with locked(folder, wait=True):
        name = f"{record.dataset}--{record.method}--{record.mode}--{record.protocol}-{record.probe}--*.json"
        same = {p: old for p in sorted(folder.glob(name)) if (old := _read(p)) and essence(old) == essence(record)}
        for path, old in same.items():
            if _covers(old, record):
                return path
        place = record.save(folder)
        for path, old in same.items():
            if path != place and set(old.seeds) <= set(record.seeds):
                path.unlink(missing_ok=True)
        return place


def current(records: Iterable[Record]) -> list[Record]:
    """One Record per cell of a table: the newest settings, and of those the most seeds."""
    newest: dict[tuple[str, ...], Record] = {}
    for record in sorted(records, key=lambda r: r.created):
        cell = (record.dataset, record.method, record.mode, record.protocol, record.probe)
        old = newest.get(cell)
        if old is None or essence(old) != essence(record) or len(record.seeds) >= len(old.seeds):
            newest[cell] = record
    return list(newest.values())


def essence(record: Record) -> tuple[Any, ...]:
    """What must agree for two Records to be about the same work, whatever seeds they have."""
    training = {k: v for k, v in record.config.get("training", {}).items() if k not in _HARMLESS}
    protocol = {k: v for k, v in record.config.get("protocol", {}).items() if k != "probes"}
    return {**record.config, "training": training, "protocol": protocol}, record.data.get("fingerprint")


def _covers(old: Record, new: Record) -> bool:
    """Whether `old` has every seed of `new` with the same value."""
    have = dict(zip(old.seeds, old.values))
    return all(have.get(seed) == value for seed, value in zip(new.seeds, new.values))


def _read(path: Path) -> Record | None:
    try:
        return read_record(path)
    except DataError:
        return None
