"""A whole Dataset as one packed file: graphs, split, SMILES, unreadable rows and origin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from adgcl.core.trees import TreeError, fitted
from adgcl.data.checked import remember, was_checked
from adgcl.data.dataset import BadRow, Dataset, Origin
from adgcl.graphs.store.storage import damaged, open_store, read_extra, read_notes, save_store
from adgcl.graphs.store.strings import PackedStrings

Arrays = dict[str, npt.NDArray[Any]]
_SPLIT = "split."
_LISTS = ("smiles", "bad_texts", "bad_reasons", "bad_ids")


@dataclass(frozen=True)
class _Known:
    """What is noted about a Dataset next to its arrays."""

    name: str
    origin: Origin
    mixtures: int = 0
    columns: tuple[str, ...] = ()
    stamp: str = ""


def save_dataset(dataset: Dataset, path: str | Path, stamp: str = "") -> None:
    """Write a Dataset to `path` in one atomic step; `stamp` says what it was made from."""
    known = {
        "name": dataset.name,
        "origin": asdict(dataset.origin),
        "mixtures": dataset.mixtures,
        "columns": dataset.columns,
        "stamp": stamp,
    }
    extra: Arrays = {_SPLIT + part: np.asarray(ids) for part, ids in (dataset.split or {}).items()}
    if dataset.rows is not None:
        extra["rows"] = dataset.rows
    if dataset.smiles is not None:
        extra |= _strings("smiles", dataset.smiles)
    if dataset.bad_rows:
        extra["bad_lines"] = np.array([bad.line for bad in dataset.bad_rows], dtype=np.int64)
        extra |= _strings("bad_texts", [bad.text for bad in dataset.bad_rows])
        extra |= _strings("bad_reasons", [bad.reason for bad in dataset.bad_rows])
        extra |= _strings("bad_ids", [bad.id for bad in dataset.bad_rows])
    save_store(dataset.store, Path(path), {"dataset": known}, extra)


def open_dataset(path: str | Path) -> Dataset:
    """Open a packed Dataset, or a packed store alone; its arrays stay on disk until they are touched."""
    path = Path(path)
    trusted, facts = was_checked(path)
    store, extra = open_store(path, trusted), read_extra(path)
    known = _known(path)
    try:
        made = Dataset(
            name=known.name,
            store=store,
            origin=known.origin,
            split={n.removeprefix(_SPLIT): np.array(a) for n, a in extra.items() if n.startswith(_SPLIT)} or None,
            bad_rows=_bad_rows(extra),
            rows=extra.get("rows"),
            smiles=_unpacked("smiles", extra),
            mixtures=known.mixtures,
            columns=known.columns,
        )
        if not trusted:
            _check(made, extra)
            remember(path, facts)
    except (KeyError, TypeError, ValueError) as error:
        raise damaged(path, error) from error
    return made


def read_stamp(path: Path) -> str:
    """What a packed Dataset was made from: the stamp given to `save_dataset`."""
    return _known(path).stamp


def _known(path: Path) -> _Known:
    notes = read_notes(path).get("dataset")
    if notes is None:
        return _Known(path.stem, Origin("packed", source=str(path)))
    try:
        return fitted(_Known, notes)
    except TreeError as error:
        raise damaged(path, error) from error


def _check(dataset: Dataset, extra: Arrays) -> None:
    """Raise a ValueError unless the extra arrays fit the graphs."""
    graphs = len(dataset)
    for name in _LISTS:
        strings = _unpacked(name, extra)
        if strings is not None and not strings.is_sound():
            raise ValueError(f"{name} cannot be read")
    if dataset.smiles is not None and len(dataset.smiles) != graphs:
        raise ValueError(f"{len(dataset.smiles)} SMILES for {graphs} graphs")
    parts = (dataset.split or {}).items()
    limits = [*((name, ids, graphs) for name, ids in parts), ("rows", dataset.rows, graphs + len(dataset.bad_rows))]
    for name, numbers, limit in limits:
        if numbers is None:
            continue
        if numbers.dtype != np.int64 or numbers.ndim != 1 or ((numbers < 0) | (numbers >= limit)).any():
            raise ValueError(f"{name} has numbers of graphs that do not exist")
    if dataset.rows is not None and (len(dataset.rows) != graphs or (np.diff(dataset.rows) <= 0).any()):
        raise ValueError("rows do not follow one another")


def _strings(name: str, strings: Sequence[str]) -> Arrays:
    packed = PackedStrings.of(strings)
    return {f"{name}_text": packed.text, f"{name}_ends": packed.ends}


def _unpacked(name: str, extra: Arrays) -> PackedStrings | None:
    return PackedStrings(extra[f"{name}_text"], extra[f"{name}_ends"]) if f"{name}_ends" in extra else None


def _bad_rows(extra: Arrays) -> tuple[BadRow, ...]:
    if "bad_lines" not in extra:
        return ()
    columns = [
        extra["bad_lines"].tolist(),
        *(_unpacked(name, extra) or () for name in ("bad_texts", "bad_reasons", "bad_ids")),
    ]
    return tuple(BadRow(*row) for row in zip(*columns, strict=True))
