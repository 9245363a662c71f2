"""Grid: a Comparison as lines of cells, which text, Markdown and LaTeX print each in their way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from adgcl.reports import numbers
from adgcl.reports.comparison import Comparison, Entry, label
from adgcl.reports.ranking import Ranking, rank

PAPER = "paper"


@dataclass(frozen=True)
class GridCell:
    """A text, and whether it is the best of its column or only the paper's word."""

    text: str
    best: bool = False
    faint: bool = False


@dataclass(frozen=True)
class Grid:
    """Column names, and lines of cells; a row of the table is one line per mode and one for the paper."""

    columns: tuple[str, ...]
    lines: tuple[tuple[GridCell, ...], ...]
    first_lines: frozenset[int]


def make_grid(comparison: Comparison, datasets: Sequence[str] | None = None) -> Grid:
    """Methods down, data sets across; each cell ours, below it the paper's."""
    datasets = comparison.datasets if datasets is None else tuple(datasets)
    rankings = {mode: rank(comparison, mode) for mode in comparison.modes}
    best = {(mode, d): comparison.best(mode, d) for mode in comparison.modes for d in datasets}
    lines: list[tuple[GridCell, ...]] = []
    first = set()
    for row in comparison.rows:
        first.add(len(lines))
        name = GridCell(label(row))
        for mode in comparison.modes:
            entries = [comparison.entry(mode, row, d) for d in datasets]
            cells = [GridCell(ours(e), row in best[mode, d], e.record is None) for e, d in zip(entries, datasets)]
            what = mode if len(comparison.modes) > 1 else "ours"
            lines.append((name, GridCell(what, faint=True), *cells, GridCell(_rank(rankings[mode], row))))
            name = GridCell("")
        theirs = [published(comparison, row, d) for d in datasets]
        if any(theirs):
            cells = [GridCell(text or "–", faint=True) for text in theirs]
            lines.append((name, GridCell(PAPER, faint=True), *cells, GridCell("")))
    heads = (f"{d} {_arrow(comparison, d)}".strip() for d in datasets)
    return Grid(("method", "", *heads, "rank"), tuple(lines), frozenset(first))


def ours(entry: Entry) -> str:
    """`88.54 ± 1.51 (5) -0.5σ`, or why there is no number; an asterisk where seeds are missing."""
    record = entry.record
    if record is None:
        return entry.gap.status if entry.gap else "–"
    incomplete = "*" if entry.gap is not None else ""
    text = f"{numbers.result(record)} ({len(record.seeds)}{incomplete})"
    return f"{text} {numbers.in_stds(entry.gain_in_stds)}".rstrip()


def published(comparison: Comparison, row: str, dataset: str) -> str:
    """The paper's cell, or nothing."""
    found = comparison.table.result(dataset, row)
    return numbers.mean_std(found.mean, found.std, found.metric) if found else ""


def _rank(ranking: Ranking, row: str) -> str:
    return f"{ranking.average[row]:.2f}" if row in ranking.average else ""


def _arrow(comparison: Comparison, dataset: str) -> str:
    """Only errors need one: everybody knows which way accuracy goes."""
    return "" if comparison.metric(dataset)[1] else "↓"
