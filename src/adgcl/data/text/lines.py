"""Lines of a text file, perhaps gzipped, with clear errors if it cannot be read as text."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, cast

from adgcl.core.errors import DataError

_AS_UTF8 = "Save it as UTF-8 text (in a spreadsheet: CSV UTF-8)."
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def read_lines(path: Path, errors: str = "strict") -> Iterator[str]:
    """The lines of a text file with their ends; `errors` says what to do about bytes that are not UTF-8."""
    try:
        with path.open("rb") as file, _as_text(file, errors) as text:
            for number, line in enumerate(text, 1):
                if "\0" in line:
                    raise DataError(f"{path}, line {number}: this is not text.", _AS_UTF8)
                yield line
    except UnicodeDecodeError as error:
        raise DataError(f"{path}{_first_bad_line(path)} is not UTF-8 text.", _AS_UTF8) from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(f"{path} is a damaged gzip file: {error}.", "Create or download it again.") from error
    except OSError as error:
        raise DataError(f"Cannot read {path}: {error.strerror or error}.", "Check its permissions.") from error


def _as_text(file: IO[bytes], errors: str) -> io.TextIOWrapper:
    raw = _unpacked(file)
    # Spreadsheets save "Unicode text" as UTF-16 with a byte-order mark.
    utf16 = any(_starts_with(raw, mark) for mark in _UTF16_MARKS)
    return io.TextIOWrapper(raw, encoding="utf-16" if utf16 else "utf-8-sig", errors=errors, newline="")


def _unpacked(file: IO[bytes]) -> IO[bytes]:
    return cast(IO[bytes], gzip.GzipFile(fileobj=file)) if _starts_with(file, b"\x1f\x8b") else file


def _starts_with(file: IO[bytes], mark: bytes) -> bool:
    start = file.read(len(mark))
    file.seek(0)
    return start == mark


def _first_bad_line(path: Path) -> str:
    # It may be damaged as well, after the buffer that could not be decoded.
    with suppress(OSError, EOFError, zlib.error), path.open("rb") as file:
        for number, line in enumerate(_unpacked(file), 1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                return f", line {number},"
    return ""
