"""Comparisons as files: one per format, named after the table and its mode."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from adgcl.core.errors import UnknownNameError
from adgcl.core.files import write_text
from adgcl.reports.comparison import Comparison
from adgcl.reports.comparison_html import to_html
from adgcl.reports.comparison_rows import to_csv
from adgcl.reports.comparison_text import to_latex, to_markdown, to_text

FORMATS: Mapping[str, Callable[[Comparison], str]] = {
    "txt": to_text,
    "md": to_markdown,
    "tex": to_latex,
    "csv": to_csv,
    "html": to_html,
}


def check_formats(formats: Sequence[str]) -> tuple[str, ...]:
    """The formats asked for, or an error that names those there are."""
    for name in formats:
        if name not in FORMATS:
            raise UnknownNameError("format", name, FORMATS)
    return tuple(formats) or tuple(FORMATS)


def write_comparison(comparison: Comparison, folder: Path, formats: Sequence[str] = ()) -> list[Path]:
    """Write `<table>-<mode>.<format>`; both modes side by side are called `both`."""
    mode = comparison.modes[0] if len(comparison.modes) == 1 else "both"
    paths = []
    for name in check_formats(formats):
        path = folder / f"{comparison.table.name}-{mode}.{name}"
        write_text(path, FORMATS[name](comparison))
        paths.append(path)
    return paths
