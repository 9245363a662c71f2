"""Comparisons in the terminal and as files: one per format, named after the table and its mode."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from adgcl.core.errors import UnknownNameError
from adgcl.core.files import write_text
from adgcl.reports.comparison import Comparison
from adgcl.reports.comparison_tables import (
    LEGEND,
    duel_tables,
    gap_notes,
    main_table,
    rank_notes,
    test_note,
    value_table,
)
from adgcl.reports.formats import csv_text, html, latex, markdown, terminal
from adgcl.reports.table import Table

_HOW_TO_READ = (
    "Mean ± sample standard deviation over seeds, with the number of seeds in brackets; σ is the published standard "
    "deviation, and + is better whichever way the metric goes. Hover over a number to see every seed."
)


def tables_of(comparison: Comparison) -> list[Table]:
    """The cells, the wins, and an explanation below them, for the terminal."""
    main = main_table(comparison)
    *others, last = [replace(main, notes=()), *duel_tables(comparison)]
    # Bold is lost in a text file.
    return [*others, replace(last, notes=tuple(note.replace("Bold:", "Bold or ◂:") for note in main.notes))]


def to_text(comparison: Comparison) -> str:
    return terminal.to_text(tables_of(comparison))


def to_markdown(comparison: Comparison, heading: str = "#", legend: bool = True) -> str:
    """A page, or a section of one that explains its cells elsewhere."""
    main = main_table(comparison)
    parts = [f"{heading} {markdown.escape(main.title)}\n", markdown.to_markdown(main)]
    for table in duel_tables(comparison):
        parts += [markdown.with_title(table)]
    below = [note for note in main.notes if legend or note != LEGEND]
    return "\n".join([*parts, *(f"- {markdown.escape(note)}" for note in below)]) + "\n"


def to_latex(comparison: Comparison) -> str:
    """Floating tables: the cells with all notes, and the wins."""
    return "\n".join(map(latex.to_latex, [main_table(comparison), *duel_tables(comparison)]))


def to_csv(comparison: Comparison) -> str:
    return csv_text.to_csv(value_table(comparison))


def to_html(comparison: Comparison) -> str:
    """A page: the cells with colours for better and worse, the wins, and why cells are empty."""
    source = comparison.table
    remarks = (_HOW_TO_READ, *rank_notes(comparison), test_note(comparison))
    sections = [
        html.Section(table=main_table(comparison)),
        *(html.Section(table.title, table) for table in duel_tables(comparison)),
        html.Section("How to read it", remarks=tuple(filter(None, remarks))),
    ]
    if gaps := gap_notes(comparison):
        sections.append(html.Section("Why cells are empty or incomplete", remarks=tuple(gaps)))
    lead = f"{source.name} · {source.source} · mode {' and '.join(comparison.modes)}"
    return html.to_page(source.title, sections, lead=lead, key=True)


FORMATS: Mapping[str, Callable[[Comparison], str]] = {
    "txt": to_text,
    "md": to_markdown,
    "tex": to_latex,
    "csv": to_csv,
    "html": to_html,
}


def check_formats(formats: Sequence[str]) -> tuple[str, ...]:
    """The requested formats, or an error that names the known ones."""
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
