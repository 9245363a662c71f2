"""Tables from Records: for the terminal, Markdown, LaTeX and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

from adgcl.core.records import Record
from adgcl.reports import numbers

if TYPE_CHECKING:
    from rich.table import Table

COLUMNS = ("data set", "method", "mode", "probe", "metric", "result", "seeds", "published", "difference", "time")
_NUMBERS = ("result", "seeds", "published", "difference", "time")


def cells(record: Record) -> tuple[str, ...]:
    """One Record as the texts of its row, in the order of COLUMNS."""
    return (
        record.dataset,
        numbers.method_label(record.method),
        record.mode + (" (one run)" if record.protocol == "finished-run" else ""),
        record.probe,
        numbers.metric_label(record.metric, record.higher_is_better),
        numbers.result(record),
        str(len(record.seeds)),
        numbers.published(record),
        numbers.signed(numbers.difference(record), record.metric),
        numbers.seconds_label(record.seconds),
    )


def as_text(records: Sequence[Record], title: str | None = None) -> Table:
    """A table for the terminal; a difference is green where we are better than the paper."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left", title_style="bold", pad_edge=False)
    for column in COLUMNS:
        table.add_column(column, justify="right" if column in _NUMBERS else "left", no_wrap=column in _NUMBERS)
    colours = {True: "green", False: "yellow", None: ""}
    for record in records:
        styles = {"result": "bold", "difference": colours[numbers.is_better(record)]}
        table.add_row(*(Text(cell, style=styles.get(name, "")) for name, cell in zip(COLUMNS, cells(record))))
    return table


def as_markdown(records: Sequence[Record]) -> str:
    """A Markdown table, one row per Record."""
    return markdown(COLUMNS, [cells(r) for r in records], _NUMBERS)


def markdown(columns: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[str] = ()) -> str:
    """Any Markdown table; columns named in `right` are aligned to the right."""
    rule = ["---:" if column in right else "---" for column in columns]
    lines = [columns, rule, *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def as_csv(records: Sequence[Record]) -> str:
    """Full numbers, one row per Record, for spreadsheets and scripts."""
    rows = [numbers.summary(record) for record in records]
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]) if rows else ["dataset"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def latex(columns: Sequence[str], rows: Sequence[Sequence[str]], caption: str) -> str:
    """A LaTeX table (needs the package booktabs); the first column holds names, the others numbers."""
    lines = [
        r"\begin{table}[ht]",
        r"\centering",
        rf"\caption{{{latex_escape(caption)}}}",
        rf"\begin{{tabular}}{{l{'r' * (len(columns) - 1)}}}",
        r"\toprule",
        " & ".join(map(latex_escape, columns)) + r" \\",
        r"\midrule",
        *(" & ".join(map(latex_escape, row)) + r" \\" for row in rows),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def latex_escape(text: str) -> str:
    """`text` for LaTeX: its special characters as commands."""
    special = {
        "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
        "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
        "±": r"$\pm$", "↑": r"$\uparrow$", "↓": r"$\downarrow$", "–": "--",
        "σ": r"$\sigma$", "<": r"\textless{}", ">": r"\textgreater{}",
    }  # fmt: skip
    return "".join(special.get(character, character) for character in text)
