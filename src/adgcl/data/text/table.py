"""Rows of a text file (CSV, TSV, .smi, each perhaps gzip'd), one at a time, with their line numbers."""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import IO, NamedTuple, cast

from adgcl.core.errors import DataError

_SAMPLE = 100
_LONGEST_FIELD = 2**30
_DELIMITERS = (",", "\t", ";", "|")
_AS_UTF8 = "Save it as UTF-8 text (in a spreadsheet: CSV UTF-8)."
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


class Row(NamedTuple):
    """One row: the line it starts on (from 1) and its fields."""

    line: int
    fields: list[str]


@dataclass
class Table:
    """A table that is being read: its column names, its first rows, and all rows (to be read once)."""

    path: Path
    columns: tuple[str, ...]
    sample: tuple[Row, ...]
    rows: Iterator[Row]


def open_table(path: Path, is_header: Callable[[list[str], list[Row]], bool]) -> Table:
    """Open a table; `is_header` decides from the first row and those after it whether it names columns."""
    if not path.exists():
        raise DataError(f"There is no file {path}.", "Check the path.")
    if not path.is_file():
        raise DataError(f"{path} is not a file.", "Give the path of a table: CSV, TSV or .smi.")
    rows = _rows_of_smi(path) if _is_plain_smi(path) else _rows_of_csv(path)
    first_rows = list(islice(rows, _SAMPLE + 1))
    if not first_rows:
        raise DataError(f"{path} is empty.", "It should have one molecule per line.")
    head = first_rows[0].fields
    # The .smi format knows no header; only an unmistakable one is taken for it.
    if head[0].strip().lower() == "smiles" if _is_smi(path) else is_header(head, first_rows[1:]):
        columns = _named_columns(path, head)
        first_rows = first_rows[1:]
        if not first_rows:
            raise DataError(f"{path} has a header but no rows.", "It should have one molecule per line.")
    else:
        columns = _numbered_columns(path, max(len(row.fields) for row in first_rows))
    return Table(path, columns, tuple(first_rows), chain(first_rows, rows))


def _named_columns(path: Path, head: list[str]) -> tuple[str, ...]:
    names = [name.strip() or f"column {number}" for number, name in enumerate(head, 1)]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise DataError(f"{path} has two columns called {twice!r}.", "Rename or remove one of them.")
    return tuple(names)


def _numbered_columns(path: Path, width: int) -> tuple[str, ...]:
    if _is_smi(path):
        return ("smiles", "id")
    return tuple(f"column {number}" for number in range(1, width + 1))


def _is_smi(path: Path) -> bool:
    return path.name.lower().removesuffix(".gz").endswith((".smi", ".smiles"))


def _is_plain_smi(path: Path) -> bool:
    """Whether this is SMILES and titles; with a header that has tabs, it is a table by another name."""
    return _is_smi(path) and not re.match(r"\s*smiles\t", next(_lines(path), ""), re.IGNORECASE)


def _rows_of_smi(path: Path) -> Iterator[Row]:
    """SMILES, then blanks, then a title that may hold blanks itself."""
    for line, text in enumerate(_lines(path), 1):
        if text.strip():
            yield Row(line, text.split(maxsplit=1)[:1] + [part.strip() for part in text.split(maxsplit=1)[1:]])


def _rows_of_csv(path: Path) -> Iterator[Row]:
    lines = _lines(path)
    first = list(islice(lines, _SAMPLE))
    # A field that is far too long is one bad row (see `adgcl.graphs.chem.reading`), no reason to give up the table.
    csv.field_size_limit(max(csv.field_size_limit(), _LONGEST_FIELD))
    reader = csv.reader(chain(first, lines), delimiter=_delimiter(first), strict=True, skipinitialspace=True)
    line = 1
    try:
        for fields in reader:
            if any(field.strip() for field in fields):
                yield Row(line, fields)
            line = reader.line_num + 1
    except csv.Error as error:
        hint = 'A double quote may be missing. To write one inside a quoted field, double it: "".'
        raise DataError(f"{path}, line {line}: {error}.", hint) from error


def _delimiter(lines: list[str]) -> str:
    """The candidate that cuts most lines into as many fields as the first; ties go to the finer cut."""
    texts = [re.sub(r'"[^"]*"', "", text) for text in lines if text.strip()]
    if not texts:
        return ","

    def fitness(candidate: str) -> tuple[bool, int, int]:
        cuts = texts[0].count(candidate)
        return cuts > 0, sum(text.count(candidate) == cuts for text in texts), cuts

    return max(_DELIMITERS, key=fitness)


def _lines(path: Path) -> Iterator[str]:
    """The lines of a text file; what makes it unreadable as text is said."""
    try:
        with path.open("rb") as file, _as_text(file) as text:
            for number, line in enumerate(text, 1):
                if "\0" in line:
                    raise DataError(f"{path}, line {number}: this is not text.", _AS_UTF8)
                yield line
    except UnicodeDecodeError as error:
        raise DataError(f"{path}{_first_bad_line(path)} is not UTF-8 text.", _AS_UTF8) from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(f"{path} is a damaged gzip file: {error}.", "Make or download it again.") from error
    except OSError as error:
        raise DataError(f"Cannot read {path}: {error.strerror or error}.", "Check its permissions.") from error


def _as_text(file: IO[bytes]) -> io.TextIOWrapper:
    raw = _unpacked(file)
    # Spreadsheets that save "Unicode text" mean UTF-16, which they mark.
    utf16 = any(_starts_with(raw, mark) for mark in _UTF16_MARKS)
    return io.TextIOWrapper(raw, encoding="utf-16" if utf16 else "utf-8-sig", newline="")


def _unpacked(file: IO[bytes]) -> IO[bytes]:
    return cast(IO[bytes], gzip.GzipFile(fileobj=file)) if _starts_with(file, b"\x1f\x8b") else file


def _starts_with(file: IO[bytes], mark: bytes) -> bool:
    start = file.read(len(mark))
    file.seek(0)
    return start == mark


def _first_bad_line(path: Path) -> str:
    with path.open("rb") as file:
        for number, line in enumerate(_unpacked(file), 1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                return f", line {number},"
    return ""
