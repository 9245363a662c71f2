"""Tables as LaTeX, for the packages booktabs and graphicx."""

from __future__ import annotations

from adgcl.core.safe_text import one_line
from adgcl.reports.table import Cell, Table

_SPECIAL = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "±": r"$\pm$", "↑": r"$\uparrow$", "↓": r"$\downarrow$", "–": "--",
    "σ": r"$\sigma$", "<": r"\textless{}", ">": r"\textgreater{}",
}  # fmt: skip


def to_latex(table: Table) -> str:
    """A floating table with title and notes as its caption; it shrinks to the width of the text, but never grows."""
    caption = f"{table.title}. {' '.join(table.notes)}" if table.notes else table.title
    lines = [
        r"\begin{table}[ht]",
        r"\centering",
        rf"\caption{{{escape(caption)}}}",
        r"\resizebox{\ifdim\width>\textwidth\textwidth\else\width\fi}{!}{%",
        rf"\begin{{tabular}}{{{''.join('r' if c.kind == 'number' else 'l' for c in table.columns)}}}",
        r"\toprule",
        " & ".join(escape(column.name) for column in table.columns) + r" \\",
        r"\midrule",
        *_body(table),
        r"\bottomrule",
        r"\end{tabular}}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def escape(text: str) -> str:
    """`text` with LaTeX's special characters as commands."""
    return "".join(_SPECIAL.get(character, character) for character in one_line(text))


def _body(table: Table) -> list[str]:
    lines = []
    for number, row in enumerate(table.rows):
        if number and row.starts_group:
            lines.append(r"\addlinespace")
        lines.append(" & ".join(map(_cell, row.cells)) + r" \\")
    return lines


def _cell(cell: Cell) -> str:
    text = escape(cell.plain)
    return rf"\textbf{{{text}}}" if cell.best else text
