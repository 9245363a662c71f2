"""Your own molecules: a CSV, TSV, .smi, Excel or SDF file, or a list of SMILES, as a Dataset."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from adgcl.core.errors import DataError
from adgcl.core.progress import Count
from adgcl.core.schema import Task
from adgcl.data.dataset import IN_MEMORY, BadRow, Dataset, Origin, Split
from adgcl.data.labelling import columns_in_memory
from adgcl.data.splits import random_split, scaffold_split
from adgcl.data.text.columns import (
    find_column,
    find_id_column,
    find_label_columns,
    find_smiles_column,
    is_header,
)
from adgcl.data.text.labels import LabelColumn, Labels, has_labels, read_labels, with_points
from adgcl.data.text.open_table import open_table
from adgcl.data.text.table import Table
from adgcl.graphs.chem.atoms import FeatureSet
from adgcl.graphs.chem.molecules import Molecules, NoMoleculesError, molecules_to_store
from adgcl.graphs.chem.reading import all_as_smiles
from adgcl.graphs.chem.unreadable import shown

_PARTS = {
    "train": "train",
    "training": "train",
    "valid": "valid",
    "validation": "valid",
    "val": "valid",
    "dev": "valid",
    "test": "test",
}


def load_smiles_table(
    path: str | Path,
    *,
    smiles_column: str | None = None,
    label_columns: Sequence[str] | str | None = None,
    id_column: str | None = None,
    features: FeatureSet = "ogb",
    task: Task | str | None = None,
    split: str | None = None,
    keep_largest_fragment: bool = False,
    sheet: str | None = None,
    progress: Count | None = None,
    workers: int | None = None,
    unfinished: Path | None = None,
) -> Dataset:
    """Read a table of molecules: CSV, TSV, .smi or SDF, perhaps gzip'd, or a sheet of an Excel workbook.

    Of a workbook the first sheet is read, or the one called `sheet`. In an SDF file the structure gives the
    SMILES, the title line the name, and every property is a column. Other tables need no header.

    The SMILES column is found by its name or its values. Labels are the columns you name; if you name none,
    those called label, y, target, activity, active, class, outcome, property or value. Names of molecules come from
    a column called id, name or similar. A column may also be given by its number, from 1. The kind of task
    is guessed from the labels (see `read_labels`) unless `task` says it (`binary`, `multiclass`,
    `regression`, `none`). `split` is `scaffold`, `random`, or a column that says train, valid or test.

    Rows that cannot be read are in `bad_rows`, with line and reason; `rows` says which row each graph is. Salts and
    mixtures are counted in `mixtures`; `keep_largest_fragment` reduces each to its largest fragment, also in `smiles`.
    `unfinished` is a folder for what an interrupted conversion has done.
    """
    path = Path(path)
    table = open_table(path, is_header if smiles_column is None else _header_with(smiles_column), sheet)
    wanted = _choose(table, smiles_column, label_columns, id_column, task, split)
    read = _read(table, wanted)
    try:
        molecules = molecules_to_store(
            read.smiles,
            features,
            ids=read.ids,
            keep_largest_fragment=keep_largest_fragment,
            workers=workers,
            progress=progress,
            unfinished=unfinished,
        )
    except NoMoleculesError as error:
        raise _none_readable(table, read, wanted, error) from error
    kept = molecules.kept
    y, meaning = _labels(table, read, kept, task, certain=label_columns is not None)
    names = read.ids or [""] * len(read.smiles)
    failed = [BadRow(read.lines[f.position], f.smiles, f.reason, names[f.position]) for f in molecules.failures]
    smiles = _as_read(read.smiles, molecules)
    parts = [read.parts[i] for i in kept] if read.parts is not None else None
    return Dataset(
        Path(path.name.removesuffix(".gz")).stem,
        molecules.store.with_labels(y, meaning),
        Origin("own", source=str(path)),
        split=_split(split, smiles, parts, lambda row: f"{path}, line {read.lines[kept[row]]}", workers),
        bad_rows=tuple(sorted(read.bad + failed, key=lambda bad: bad.line)),
        rows=np.array(read.rows, dtype=np.int64)[kept],
        smiles=smiles,
        mixtures=molecules.mixtures,
        columns=tuple(name for place, name in enumerate(table.columns) if place != wanted.smiles),
    )


def smiles_dataset(
    smiles: Sequence[Any],
    y: Any = None,
    ids: Sequence[str] | None = None,
    *,
    features: FeatureSet = "ogb",
    task: Task | str | None = None,
    split: str | None = None,
    keep_largest_fragment: bool = False,
    name: str = "molecules",
    progress: Count | None = None,
    workers: int | None = None,
) -> Dataset:
    """A Dataset of molecules in memory; `y` has a label, or a row of labels, for each (NaN or None: missing).

    A molecule is a SMILES or an RDKit Mol, which is read as its SMILES (so hydrogens that are atoms of their own are
    left out). None and NaN are bad rows. In `bad_rows`, the line is the place in the list, from 1.
    """
    texts = all_as_smiles(smiles)
    molecules = molecules_to_store(
        texts, features, ids=ids, keep_largest_fragment=keep_largest_fragment, workers=workers, progress=progress
    )
    columns = [] if y is None else columns_in_memory(y, len(texts), molecules.kept, "Molecule")
    labels, meaning = read_labels(columns, task) if columns else (None, Task("none", num_tasks=0))
    kept = _as_read(texts, molecules)
    if split is not None and split not in ("scaffold", "random"):
        raise DataError(f"There is no split called {split!r}.", "Use scaffold or random.")
    return Dataset(
        name,
        molecules.store.with_labels(labels, meaning),
        Origin("own", source=IN_MEMORY),
        split=_split(split, kept, None, str, workers),
        bad_rows=tuple(
            BadRow(f.position + 1, f.smiles, f.reason, "" if ids is None else str(ids[f.position]))
            for f in molecules.failures
        ),
        rows=molecules.kept,
        smiles=kept,
        mixtures=molecules.mixtures,
    )


def _as_read(texts: Sequence[str], molecules: Molecules) -> tuple[str, ...]:
    """The SMILES that the graphs were made from: as given, or the fragment that was kept."""
    return tuple(molecules.fragments.get(i, texts[i]) for i in molecules.kept.tolist())


@dataclass(frozen=True)
class _Wanted:
    """The places of the columns that are read."""

    smiles: int
    id: int | None
    labels: dict[str, int]
    part: int | None


@dataclass
class _Content:
    """What was read of a table: one item per row with enough fields, and the rows that had too many."""

    lines: list[int] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    smiles: list[str] = field(default_factory=list)
    ids: list[str] | None = None
    parts: list[str] | None = None
    labels: dict[str, list[str]] = field(default_factory=dict)
    bad: list[BadRow] = field(default_factory=list)


def _header_with(name: str) -> Any:
    """The usual header test, except that a first row with a name the user gave is always a header."""
    return lambda head, others: name in [cell.strip() for cell in head] or is_header(head, others)


def _choose(
    table: Table,
    smiles: str | None,
    labels: Sequence[str] | str | None,
    ids: str | None,
    task: Task | str | None,
    split: str | None,
) -> _Wanted:
    place = find_smiles_column(table, smiles)
    none = task == "none" or (isinstance(task, Task) and task.kind == "none")
    label_places = [] if none else find_label_columns(table, labels, place)
    part = None
    if split is not None and split not in ("scaffold", "random"):
        part = find_column(table.path, table.columns, split, "--split")
    id_place = find_id_column(table, ids, [place, *label_places])
    return _Wanted(place, id_place, {table.columns[p]: p for p in label_places}, part)


def _read(table: Table, wanted: _Wanted) -> _Content:
    width = len(table.columns)
    content = _Content(labels={name: [] for name in wanted.labels})
    content.ids = None if wanted.id is None else []
    content.parts = None if wanted.part is None else []
    for number, (line, fields, problem) in enumerate(table.rows):
        # An unreadable structure does not matter if the SMILES are in another column.
        problem = problem if wanted.smiles == table.smiles else ""
        if problem or len(fields) > width:
            reason = problem or f"{len(fields)} fields instead of {width}; quote fields that hold the delimiter"
            name = "" if wanted.id is None else fields[wanted.id].strip()
            content.bad.append(BadRow(line, fields[wanted.smiles].strip(), reason, name))
            continue
        fields += [""] * (width - len(fields))
        content.lines.append(line)
        content.rows.append(number)
        content.smiles.append(fields[wanted.smiles].strip())
        if content.ids is not None and wanted.id is not None:
            content.ids.append(fields[wanted.id].strip())
        if content.parts is not None and wanted.part is not None:
            content.parts.append(fields[wanted.part])
        for name, place in wanted.labels.items():
            content.labels[name].append(fields[place])
    if content.ids is not None:
        named = zip(content.ids, content.rows, strict=True)
        content.ids = [name or str(row) for name, row in named] if any(content.ids) else None
    return content


def _labels(
    table: Table, read: _Content, kept: npt.NDArray[np.int64], task: Task | str | None, certain: bool
) -> tuple[Labels | None, Task]:
    """The labels of the kept rows; empty and doubtful columns are an error only where the user named them.

    A column that was found by its name may not be wanted at all: who learns from it has to doubt it.
    """

    def where(row: int) -> str:
        return f"{table.path}, line {read.lines[kept[row]]}"

    columns = []
    for name, texts in read.labels.items():
        of_kept = [texts[i] for i in kept]
        column = LabelColumn(name, with_points(of_kept) if table.decimal_comma else of_kept, where)
        if has_labels(column):
            columns.append(column)
        elif certain:
            raise DataError(
                f"The label column {name!r} of {table.path} is empty.",
                "Name a column that holds labels; without one, graphs can only be embedded, or used for pre-training.",
            )
    return read_labels(columns, task, doubting=certain) if columns else (None, Task("none", num_tasks=0))


def _none_readable(table: Table, read: _Content, wanted: _Wanted, error: NoMoleculesError) -> DataError:
    failed = [BadRow(read.lines[f.position], f.smiles, f.reason) for f in error.failures]
    reasons = "; ".join(f"line {bad.line}: {shown(bad.text)}: {bad.reason}" for bad in (read.bad + failed)[:3])
    others = [name for place, name in enumerate(table.columns) if place != wanted.smiles]
    elsewhere = f" If they are in another ({', '.join(others)}), name it with --smiles-column." if others else ""
    return DataError(
        f"No row of {table.path} can be read as a molecule ({reasons}).",
        f"SMILES were expected in the column {table.columns[wanted.smiles]!r}.{elsewhere}",
    )


def _split(
    how: str | None,
    smiles: Sequence[str],
    parts: Sequence[str] | None,
    where: Callable[[int], str],
    workers: int | None,
) -> Split | None:
    if how is None:
        return None
    if parts is None:
        return scaffold_split(smiles, workers=workers) if how == "scaffold" else random_split(len(smiles))
    named = [_PARTS.get(part.strip().lower()) for part in parts]
    if None in named:
        row = named.index(None)
        raise DataError(f"{where(row)}: the column {how!r} says {parts[row]!r}.", "It must say train, valid or test.")
    return {name: np.flatnonzero(np.array(named) == name) for name in ("train", "valid", "test")}
