"""A whole Dataset as one packed file: graphs, split, SMILES, unreadable rows and origin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from adgcl.core.errors import DataError
from adgcl.data.dataset import BadRow, Dataset, Origin
from adgcl.graphs.store.storage import PackedStrings, open_store, read_extra, read_notes, save_store

Arrays = dict[str, npt.NDArray[Any]]
_SPLIT = "split."


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
    store, extra = open_store(path), read_extra(path)
    known = read_notes(path).get("dataset", {})
    split = {n.removeprefix(_SPLIT): np.array(a) for n, a in extra.items() if n.startswith(_SPLIT)}
    try:
        return Dataset(
            name=known.get("name", path.stem),
            store=store,
            origin=Origin(**known.get("origin", {"family": "packed", "source": str(path)})),
            split=split or None,
            bad_rows=_bad_rows(extra),
            rows=extra.get("rows"),
            smiles=_unpacked("smiles", extra),
            mixtures=int(known.get("mixtures", 0)),
            columns=tuple(known.get("columns", ())),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError(f"{path} is damaged.", "Pack the data again with `adgcl data prepare`.") from error


def read_stamp(path: Path) -> str:
    """What a packed Dataset was made from: the stamp given to `save_dataset`."""
    return str(read_notes(path).get("dataset", {}).get("stamp", ""))


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
