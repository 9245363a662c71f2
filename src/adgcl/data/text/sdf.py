"""An SDF file as a table: each record's structure as SMILES, its title line, and a column for every property."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path

from adgcl.core.errors import DataError
from adgcl.data.text.lines import read_lines
from adgcl.data.text.table import SAMPLE, Row, Table

SDF_SUFFIXES = (".sdf", ".sd")
STRUCTURE, TITLE = "(structure)", "(title)"
_END = "$$$$"
_PROPERTY = re.compile(r">[^<]*<(.*)>")
# RDKit counts lines from the start of the record it was given.
_PLACE = re.compile(r"\bline ?(\d+)$")


def open_sdf(path: Path) -> Table:
    """Open an SDF file; it is read twice, because property names must be known before the rows.

    The SMILES are canonical and isomeric. A record without a readable structure is a row with a problem, with its
    title in place of the SMILES.
    """
    names, titled = _survey(path)
    rows = _rows(path, names, titled)
    first = tuple(islice(rows, SAMPLE))
    if not first:
        raise DataError(f"{path} is empty.", "It should have one record per molecule.")
    columns = (STRUCTURE, *([TITLE] if titled else []), *names)
    return Table(path, columns, first, chain(first, rows), smiles=0, id=1 if titled else None)


def _survey(path: Path) -> tuple[list[str], bool]:
    """The names of all properties, in the order in which they first appear, and whether any record has a title."""
    names: dict[str, None] = {}
    titled = False
    for _, lines in _records(path):
        titled = titled or bool(_title(lines))
        names.update(dict.fromkeys(_properties(lines)))
    return list(names), titled


def _rows(path: Path, names: list[str], titled: bool) -> Iterator[Row]:
    for line, lines in _records(path):
        smiles, problem = _structure(lines)
        title, values = _title(lines), _properties(lines)
        fields = [title if problem else smiles, *([title] if titled else []), *(values.get(n, "") for n in names)]
        yield Row(line, fields, problem)


def _records(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Each record's first line number and its lines, without the one that ends it."""
    start = 1
    lines: list[str] = []
    for number, line in enumerate(read_lines(path, errors="surrogateescape"), 1):
        if line.startswith(_END):
            yield start, lines
            start, lines = number + 1, []
        else:
            lines.append(_decoded(line.rstrip("\r\n")))
    if any(line.strip() for line in lines):
        yield start, lines


def _decoded(line: str) -> str:
    """A line, read as Latin-1 if it is not UTF-8, as older programs write it."""
    if line.isascii():
        return line
    raw = line.encode("utf-8", "surrogateescape")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _title(lines: list[str]) -> str:
    return lines[0].strip() if lines else ""


def _end_of_structure(lines: list[str]) -> int:
    return next((place + 1 for place, line in enumerate(lines) if line.startswith("M  END")), len(lines))


def _properties(lines: list[str]) -> dict[str, str]:
    """The data fields below the structure; a field ends with an empty line."""
    found: dict[str, str] = {}
    name, value = "", []
    for line in [*lines[_end_of_structure(lines) :], ""]:
        if name and line.strip():
            value.append(line)
        elif name:
            found[name] = "\n".join(value).strip()
            name = ""
        elif match := _PROPERTY.match(line):
            name, value = match.group(1).strip(), []
    return found


def _structure(lines: list[str]) -> tuple[str, str]:
    """The canonical isomeric SMILES of a record, or else why there is none."""
    from rdkit import Chem, rdBase

    record = "\n".join([*lines[: _end_of_structure(lines)], _END, ""]).encode()
    try:
        with rdBase.BlockLogs():
            molecule = next(Chem.ForwardSDMolSupplier(io.BytesIO(record)), None)
            if molecule is not None:
                return (Chem.MolToSmiles(molecule), "") if molecule.GetNumAtoms() else ("", "no atoms")
        return "", _reason(record)
    except Exception as error:  # rare: C++ exceptions that RDKit does not turn into a message
        return "", str(error) or type(error).__name__


def _reason(record: bytes) -> str:
    """RDKit's reason for rejecting this record."""
    from rdkit import Chem, rdBase

    unknown = "RDKit cannot read it"
    if not hasattr(rdBase, "CaptureErrorLog"):  # before 2024
        return unknown
    with rdBase.CaptureErrorLog() as captured:
        next(Chem.ForwardSDMolSupplier(io.BytesIO(record)), None)
    said = [line.partition("ERROR: ")[2].strip() for line in captured.messages.splitlines() if "ERROR: " in line]
    useful = [line for line in said if not line.startswith(("moving to", "Could not sanitize"))]
    return _PLACE.sub(r"line \1 of the record", useful[0]) if useful else unknown
