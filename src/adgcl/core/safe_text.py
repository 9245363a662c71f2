"""Text from users and files, made harmless for where it goes: the terminal, a spreadsheet, a file name."""

from __future__ import annotations

import hashlib
import re
from typing import Any

# Control characters move the cursor, recolour or retitle a terminal, and no XML may hold them; the marks for writing
# direction make one text look like another.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
_BREAKS = re.compile("[\t-\r\x1c-\x1e\x85\u2028\u2029]+")
# A cell that begins like this is a formula to spreadsheets, unless it is a number.
_FORMULA = re.compile(r"[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_UNSAFE_IN_NAMES = re.compile(r'[\x00-\x1f\x7f/\\<>:"|?*\ud800-\udfff]+')
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
_LONGEST_NAME = 120


def printable(text: str) -> str:
    """`text` with every control character spelled out (`\\x1b`); tabs and line ends stay."""
    return text if text.isascii() and text.isprintable() else _CONTROL.sub(_spelled, text)


def printable_value(value: Any) -> Any:
    """The same for a value that a template shows; what is HTML already stays as it is."""
    return printable(value) if type(value) is str else value


def one_line(text: str) -> str:
    """The same on one line, for the cell of a table."""
    return text if text.isascii() and text.isprintable() else printable(_BREAKS.sub(" ", text))


def csv_cell(text: str) -> str:
    """`text` as a cell that no spreadsheet runs: what looks like a formula gets an apostrophe before it."""
    plain = printable(text)
    return f"'{plain}" if _FORMULA.match(plain) and not _NUMBER.fullmatch(plain) else plain


def file_name(text: str) -> str:
    """A name as part of a file name, never a path: as it is if possible, else cleaned and with a digest."""
    clean = _UNSAFE_IN_NAMES.sub("_", text).strip(" .")
    while len(clean.encode()) > _LONGEST_NAME:
        clean = clean[: min(len(clean) - 1, _LONGEST_NAME)]
    if clean == text and clean and not _RESERVED.fullmatch(clean):
        return clean
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{clean}_{digest}" if clean else digest


def _spelled(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode("ascii")
