"""Comma-separated numbers as arrays, read fast; errors name the line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from adgcl.core.errors import DataError

Kind = Literal["int32", "int64", "float64"]
Columns = list[npt.NDArray[Any]]

_INTEGER = rb"[-+]?\d+"
_REAL = rb"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"


def number_columns(pieces: Iterable[bytes], where: str, kind: Kind, width: int | None = None) -> Columns:
    """The columns of a text of numbers, given in pieces; `where` names the file in messages.

    Empty lines are skipped; every other line must have `width` numbers, by default as many as the first.
    """
    chunks = list(number_chunks(pieces, where, kind, width))
    return [np.concatenate(parts) for parts in zip(*chunks, strict=True)]


def number_chunks(pieces: Iterable[bytes], where: str, kind: Kind, width: int | None = None) -> Iterator[Columns]:
    """The columns of a text of numbers, some lines at a time; the whole text is never in memory."""
    line, found = 1, False
    for text in _whole_lines(_ahead(pieces)):
        if text and not text.isspace():
            found, width = True, width or _width(text)
            yield _parse(text, where, line, kind, width)
        line += _line_ends(text)
    if not found:
        raise DataError(f"{where} is empty.")


def _whole_lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The same text cut after line ends."""
    rest = b""
    for piece in pieces:
        cut = piece.rfind(b"\n") + 1
        if cut:
            yield rest + piece[:cut]
            rest = piece[cut:]
        else:
            rest += piece
    yield rest


def _ahead(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The same pieces; the next is unpacked while this one is parsed."""
    source = iter(pieces)
    with ThreadPoolExecutor(1) as reader:
        coming = reader.submit(next, source, None)
        while (piece := coming.result()) is not None:
            coming = reader.submit(next, source, None)
            yield piece


def _line_ends(text: bytes) -> int:
    return int(np.count_nonzero(np.frombuffer(text, dtype=np.uint8) == ord("\n")))


def _width(text: bytes) -> int:
    first_line = re.search(rb"[^\r\n]*[^\s][^\r\n]*", text)
    return first_line.group().count(b",") + 1 if first_line else 1


def _parse(text: bytes, where: str, line: int, kind: Kind, width: int) -> Columns:
    import pyarrow
    from pyarrow import csv

    names = [str(i) for i in range(width)]
    types = {name: pyarrow.type_for_alias(kind) for name in names}
    try:
        table = csv.read_csv(
            pyarrow.BufferReader(text),
            csv.ReadOptions(column_names=names, block_size=1 << 20),
            csv.ParseOptions(quote_char=False),
            csv.ConvertOptions(column_types=types, null_values=[]),
        )
    except pyarrow.ArrowInvalid as error:
        raise DataError(_complaint(text, where, line, kind, width, str(error))) from error
    columns = [table[name].to_numpy() for name in names]
    if kind == "float64":
        _check_finite(columns, where, line)
    return columns


def _complaint(text: bytes, where: str, line: int, kind: Kind, width: int, reason: str) -> str:
    """What is wrong with the first line that is not `width` numbers."""
    number = _REAL if kind == "float64" else _INTEGER
    blank = rb"[ \t]*"
    good = blank + (blank + b"," + blank).join([number] * width) + blank
    bad = re.search(rb"^(?!(?:" + good + rb")?\r?$).*$", text, re.MULTILINE)
    if bad is None:
        return f"{where} cannot be read: {reason}"
    line += _line_ends(text[: bad.start()])
    what = "number" if kind == "float64" else "integer"
    shown = bad.group()[:60].decode(errors="replace").strip()
    return f"{where}, line {line}: expected {width} {what}{'s' * (width > 1)}, found {shown!r}."


def _check_finite(columns: Columns, where: str, line: int) -> None:
    for column in columns:
        bad = ~np.isfinite(column)
        if bad.any():
            raise DataError(f"{where}, line {line + int(bad.argmax())}: the value is not a finite number.")
