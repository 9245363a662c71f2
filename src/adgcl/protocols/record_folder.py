"""A folder of Records, and the one rule that says which of them a table shows.

More seeds of the same settings win, and the newest among equals. Where one cell has Records of different settings, the
settings that were used last count. Different seeds of the same settings become one Record, wherever they were run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from glob import escape
from pathlib import Path

from adgcl.core.errors import DataError
from adgcl.core.files import write_json
from adgcl.core.locks import locked
from adgcl.core.records import Record, read_record
from adgcl.protocols.identity import identity_of
from adgcl.protocols.joining import joined

Place = tuple[str, str, str, str, str]


def keep(record: Record, folder: Path) -> Path:
    """Save `record`, with the other seeds that the folder has, unless it is all there; poorer Records go."""
    with locked(folder, wait=True):
        same = {path: old for path, old in _of_cell(record, folder) if identity_of(old) == identity_of(record)}
        for path, old in same.items():
            if _covers(old, record):
                return path
        for old in same.values():
            if _agree(old, record):
                record = joined(old, record)
        place = _free_place(record, folder, same)
        write_json(place, record.to_json())
        for path, old in same.items():
            if path != place and set(old.seeds) <= set(record.seeds):
                path.unlink(missing_ok=True)
        return place


def _free_place(record: Record, folder: Path, same: Mapping[Path, Record]) -> Path:
    """Its usual file, unless that holds other work: data of the same name, or settings that file names leave out."""
    usual = Path(folder) / record.file_name
    if not usual.exists() or usual in same:
        return usual
    digest = hashlib.sha256(f"{identity_of(record)}{record.seeds}".encode()).hexdigest()[:8]
    return usual.with_name(f"{record.cell_name}--{digest}.json")


def current(records: Iterable[Record]) -> list[Record]:
    """One Record per cell of a table, by the rule above, in the order of the first Record of each cell."""
    cells: dict[Place, dict[str, list[Record]]] = {}
    for record in records:
        cells.setdefault(place_of(record), {}).setdefault(identity_of(record), []).append(record)
    return [_fullest(max(groups.values(), key=_last_used)) for groups in cells.values()]


def place_of(record: Record) -> Place:
    """The cell that a Record is about."""
    return record.dataset, record.method, record.mode, record.protocol, record.probe


def _fullest(same: list[Record]) -> Record:
    return max(same, key=lambda record: (len(record.seeds), record.created))


def _last_used(same: list[Record]) -> str:
    return max(record.created for record in same)


def _of_cell(record: Record, folder: Path) -> list[tuple[Path, Record]]:
    found = []
    for path in sorted(folder.glob(f"{escape(record.cell_name)}--*.json")):
        try:
            found.append((path, read_record(path)))
        except DataError:
            continue  # Damaged: left for its owner to look at.
    return found


def _agree(one: Record, other: Record) -> bool:
    """Whether seeds that both have gave both the same, so that each can take the rest of its seeds from the other."""
    have = dict(zip(one.seeds, one.values))
    return all(have.get(seed, value) == value for seed, value in zip(other.seeds, other.values))


def _covers(old: Record, new: Record) -> bool:
    """Whether `old` has every seed of `new` with the same value."""
    have = dict(zip(old.seeds, old.values))
    return all(have.get(seed) == value for seed, value in zip(new.seeds, new.values))
