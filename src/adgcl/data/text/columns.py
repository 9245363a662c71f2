"""Which column of a table holds the SMILES, which the names, which the labels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from adgcl.core.errors import DataError, did_you_mean
from adgcl.data.text.table import Row, Table
from adgcl.graphs.chem.reading import MAX_LENGTH

# Compared without case, spaces and punctuation; most likely first.
_SMILES_NAMES = ("smiles", "canonicalsmiles", "isomericsmiles", "smilesstring", "rdkitsmiles", "smi")
_PERHAPS_SMILES = ("structure", "molecule", "mol", "compound", "cxsmiles")
_ID_NAMES = (
    "id", "molid", "moleculeid", "compoundid", "identifier", "chemblid", "moleculechemblid", "zincid", "cid",
    "cas", "name", "molname", "compoundname", "title", "iupac", "iupacname",
    "compound", "molecule", "mol", "drug", "ligand", "sample", "sampleid",  # where the SMILES have another column
)  # fmt: skip
LABEL_NAMES = (
    "label",
    "labels",
    "y",
    "target",
    "activity",
    "active",
    "class",
    "outcome",
    "property",
    "value",
)

_SMILES_LETTERS = re.compile(r"[A-Za-z0-9@+\-\[\]()\\/%=#$:.~*]+")
_LOOKED_AT = 30


def is_header(head: list[str], others: Sequence[Row]) -> bool:
    """Whether a first row names columns: it has a known name, or is not like the rows below it."""
    if any(_plain(cell) in (*_SMILES_NAMES, *_PERHAPS_SMILES) for cell in head):
        return True
    if any(_is_number(cell) for cell in head):
        return False
    return not any(_is_smiles(cell) and _share(others, place) >= 0.5 for place, cell in enumerate(head))


def find_smiles_column(table: Table, asked: str | None) -> int:
    """The position of the SMILES column: as requested, by the file's format, by its name, or by its values."""
    if asked is not None:
        return find_column(table.path, table.columns, asked, "--smiles-column")
    if table.smiles is not None:
        return table.smiles
    plain = [_plain(name) for name in table.columns]
    for name in _SMILES_NAMES:
        if name in plain:
            return plain.index(name)
    hinted = [place for place, name in enumerate(plain) if name.endswith("smiles") or name in _PERHAPS_SMILES]
    for places in (hinted, range(len(table.columns))):
        shares = {place: _share(table.sample, place) for place in places}
        best = max(shares, key=lambda place: shares[place], default=None)
        if best is not None and shares[best] >= 0.5:
            return best
    raise DataError(
        f"No column of {table.path} looks like SMILES. It has: {', '.join(table.columns)}.",
        "Name the right one with --smiles-column (in Python: smiles_column=...).",
    )


def find_id_column(table: Table, asked: str | None, taken: Sequence[int]) -> int | None:
    """The position of the column that names the molecules, if there is one."""
    if asked is not None:
        return find_column(table.path, table.columns, asked, "--id-column")
    if table.id is not None:
        return table.id
    plain = [_plain(name) for name in table.columns]
    return next((plain.index(name) for name in _ID_NAMES if name in plain and plain.index(name) not in taken), None)


def find_label_columns(table: Table, asked: Sequence[str] | str | None, smiles: int) -> list[int]:
    """The positions of the label columns: as requested, else those whose name says that they are labels."""
    if asked is None:
        return [p for p, name in enumerate(table.columns) if _plain(name) in LABEL_NAMES and p != smiles]
    names = [asked] if isinstance(asked, str) else list(asked)
    places = [find_column(table.path, table.columns, name, "--label-column") for name in names]
    for place in places:
        if place == smiles:
            raise DataError(
                f"{table.columns[place]!r} is the SMILES column and cannot be a label.",
                "Name another label column, or the right SMILES column with --smiles-column.",
            )
        if places.count(place) > 1:
            raise DataError(f"The column {table.columns[place]!r} is named twice.", "Name each column once.")
    return places


def find_column(path: Path, columns: Sequence[str], asked: str, flag: str) -> int:
    """The position of a column by its name, its name with different case or punctuation, or its number from 1."""
    if asked in columns:
        return columns.index(asked)
    alike = [place for place, name in enumerate(columns) if _plain(name) == _plain(asked)]
    if len(alike) == 1:
        return alike[0]
    if asked.isdigit() and 1 <= int(asked) <= len(columns):
        return int(asked) - 1
    guess = did_you_mean(asked, columns)
    raise DataError(
        f"{path} has no column {asked!r}. It has: {', '.join(columns)}.",
        f"{guess if guess.startswith('Did') else 'Name one of these'} ({flag}).",
    )


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _share(rows: Sequence[Row], place: int) -> float:
    """How many of the first filled fields of a column are SMILES."""
    cells = [row.fields[place].strip() for row in rows if place < len(row.fields)]
    filled = [cell for cell in cells if cell][:_LOOKED_AT]
    return sum(map(_is_smiles, filled)) / len(filled) if filled else 0.0


def _is_smiles(cell: str) -> bool:
    from rdkit import Chem, rdBase

    cell = cell.strip()
    if len(cell) > MAX_LENGTH or not _SMILES_LETTERS.fullmatch(cell) or _is_number(cell):
        return False
    with rdBase.BlockLogs():
        return Chem.MolFromSmiles(cell, sanitize=False) is not None


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
