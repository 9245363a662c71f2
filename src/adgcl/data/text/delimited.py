"""CSV, TSV and .smi files as tables; the delimiter is detected from the first lines."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path

from adgcl.core.errors import DataError
from adgcl.data.text.lines import read_lines
from adgcl.data.text.table import SAMPLE, IsHeader, Row, Table, with_columns

# The comma comes last: in a file of `CCO;1,5` it splits as often as the semicolon, which is the real delimiter.
_DELIMITERS = ("\t", ";", "|", ",")
_LONGEST_FIELD = 2**30


def open_delimited(path: Path, is_header: IsHeader) -> Table:
    """Open a text file with one molecule per line."""
    if _is_smi(path) and not _has_tab_header(path):
        return _open_smi(path)
    lines = read_lines(path)
    first = list(islice(lines, SAMPLE))
    delimiter = _delimiter(first)
    table = with_columns(path, _csv_rows(path, chain(first, lines), delimiter), is_header)
    # If a comma separates fields or thousands, reading 1,5 would be a guess; programs use a semicolon where
    # the comma is the decimal sign.
    return replace(table, decimal_comma=delimiter == ";")


def _is_smi(path: Path) -> bool:
    return path.name.lower().removesuffix(".gz").endswith((".smi", ".smiles"))


def _has_tab_header(path: Path) -> bool:
    """Whether a .smi file is a table by another name."""
    return re.match(r"\s*smiles\t", next(read_lines(path), ""), re.IGNORECASE) is not None


def _open_smi(path: Path) -> Table:
    # The .smi format has no header; only an unmistakable one is accepted.
    table = with_columns(path, _smi_rows(path), lambda head, others: head[0].strip().lower() == "smiles")
    named = table.columns[0].lower() == "smiles"
    return table if named else replace(table, columns=("smiles", "id"))


def _smi_rows(path: Path) -> Iterator[Row]:
    """SMILES, then spaces, then a title that may contain spaces."""
    for line, text in enumerate(read_lines(path), 1):
        yield Row(line, [part.strip() for part in text.split(maxsplit=1)])


def _csv_rows(path: Path, lines: Iterator[str], delimiter: str) -> Iterator[Row]:
    # A field that is far too long is one bad row (see `adgcl.graphs.chem.reading`); the rest is still read.
    csv.field_size_limit(max(csv.field_size_limit(), _LONGEST_FIELD))
    reader = csv.reader(lines, delimiter=delimiter, strict=True, skipinitialspace=True)
    line = 1
    try:
        for fields in reader:
            yield Row(line, fields)
            line = reader.line_num + 1
    except csv.Error as error:
        hint = 'A double quote may be missing. To write one inside a quoted field, double it: "".'
        raise DataError(f"{path}, line {line}: {error}.", hint) from error


def _delimiter(lines: list[str]) -> str:
    """The candidate that splits most lines into as many fields as the first; ties go to more fields."""
    texts = [re.sub(r'"[^"]*"', "", text) for text in lines if text.strip()]
    if not texts:
        return ","

    def fitness(candidate: str) -> tuple[bool, int, int]:
        cuts = texts[0].count(candidate)
        return cuts > 0, sum(text.count(candidate) == cuts for text in texts), cuts

    return max(_DELIMITERS, key=fitness)
