"""Documents: Records written as Markdown, LaTeX, CSV or a figure, chosen by the file extension."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from adgcl.core.errors import DataError, OutputError
from adgcl.core.files import write_text
from adgcl.core.records import Record
from adgcl.core.words import counted
from adgcl.reports.curves import NAMES, curves_of_metrics, figure_of_curves
from adgcl.reports.figure import figure_of_records
from adgcl.reports.folders import read_metrics
from adgcl.reports.formats import csv_text, latex, markdown
from adgcl.reports.formats.marks import is_marked, put_between
from adgcl.reports.headline import headline
from adgcl.reports.record_tables import pivots, record_list, record_values
from adgcl.reports.results_page import frozen_tables, results_page
from adgcl.reports.tuning.chosen import chosen_settings

_TITLE = "adgcl results"
_EVERY = "Every record"
# What a page may hold between two marks `<!-- NAME:begin -->` and `<!-- NAME:end -->`.
_SECTIONS: Mapping[str, Callable[[Sequence[Record]], str]] = {
    "results": lambda records: _tables(records),
    "headline": lambda records: markdown.to_markdown(headline(records)),
    "comparisons": results_page,
    "frozen": frozen_tables,
    "tuned": chosen_settings,
}


def write_report(records: Sequence[Record], path: Path) -> None:
    """Write `records` to `path` in the format of its extension."""
    writer = WRITERS.get(path.suffix.lower())
    if writer is None:
        raise OutputError(f"A report cannot end in {path.suffix or 'nothing'!r}.", f"Use one of {', '.join(WRITERS)}.")
    old = path.read_text(encoding="utf-8") if path.suffix.lower() == ".md" and path.is_file() else ""
    write_text(path, put_between_marks(old, records) if has_marks(old) else writer(records))


def write_curves(folder: Path, path: Path, names: Sequence[str] = NAMES) -> None:
    """Draw what a run measured after every epoch."""
    if path.suffix.lower() != ".svg":
        raise OutputError(f"The curves of a run cannot end in {path.suffix or 'nothing'!r}.", "Use .svg.")
    rows = read_metrics(folder)
    curves = curves_of_metrics(rows, names)
    if not curves:
        known = ", ".join(sorted({name for row in rows for name in row} - {"epoch"})) or "nothing yet"
        raise DataError(f"{folder} did not measure {' or '.join(names)}.", f"It measured {known}.")
    write_text(path, figure_of_curves(curves, f"Training in {folder}"))


def has_marks(text: str) -> bool:
    """Whether a page says where its tables go."""
    return any(is_marked(text, name) for name in _SECTIONS)


def put_between_marks(text: str, records: Sequence[Record]) -> str:
    """A page with its tables regenerated: text between two marks is replaced, the rest stays."""
    for name, make in _SECTIONS.items():
        if is_marked(text, name):
            text = put_between(text, name, make(records))
    return text


def to_markdown(records: Sequence[Record]) -> str:
    """Tables as papers print them, then every Record on its own line."""
    every = markdown.to_markdown(record_list(records, every=True))
    return f"# {_TITLE}\n\n{_tables(records)}\n## {_EVERY}\n\n{every}\n{markdown.escape(_footer(records))}\n"


def to_latex(records: Sequence[Record]) -> str:
    """A LaTeX table for each metric, probe and mode."""
    return "\n".join(map(latex.to_latex, pivots(records)))


def to_csv(records: Sequence[Record]) -> str:
    """Full numbers, a line for each cell of the tables."""
    return csv_text.to_csv(record_values(records))


def _tables(records: Sequence[Record]) -> str:
    return "\n".join(map(markdown.with_title, pivots(records)))


def _footer(records: Sequence[Record]) -> str:
    versions = sorted({r.versions.get("adgcl", "?") for r in records})
    machines = sorted({f"{r.machine.get('processor', '?')}, {r.machine.get('cores', '?')} cores" for r in records})
    count = counted(len(records), "Record")
    made = f"Made from {count} by adgcl {', '.join(versions)} on {'; '.join(machines)}."
    rule = "the tables by method show the one with the most seeds, and the newest among equals"
    return f"{made} Where several Records are about the same settings, {rule}."


WRITERS: Mapping[str, Callable[[Sequence[Record]], str]] = {
    ".md": to_markdown,
    ".tex": to_latex,
    ".csv": to_csv,
    ".svg": figure_of_records,
}
