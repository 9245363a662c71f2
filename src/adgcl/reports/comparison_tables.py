"""A Comparison as Tables: ours next to the paper's, wins against each rival, full numbers, and notes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from adgcl.core.gaps import Gap
from adgcl.reports import numbers
from adgcl.reports.averages import average_notes
from adgcl.reports.comparison import ComparedCell, Comparison
from adgcl.reports.formats.csv_text import table_of_values
from adgcl.reports.leaks import fold_notes, is_leaky, leak_notes
from adgcl.reports.numbers import printed_label
from adgcl.reports.ranking import rank
from adgcl.reports.significance import Duel, Test, duels
from adgcl.reports.table import EMPTY, Cell, Column, Row, Table
from adgcl.reports.training_notes import precision_note, start_note

# Whose wins are counted, where they are in the table.
REFERENCES = (numbers.REFERENCE, "adgcl-best")
LEGEND = (
    "Each cell: mean ± sample standard deviation over seeds (number of seeds), then the difference to the published "
    "mean in published standard deviations, where + is better. Bold: best of its column. *: seeds are missing."
)
_PAPER = "paper"
_DUEL_COLUMNS = (
    Column("against", "name"),
    *(Column(name, "number") for name in ("wins", "ties", "losses", "better mean", "Wilcoxon p")),
    Column("significant on"),
)
_TESTS = {
    "corrected paired t": "the corrected paired t-test of Nadeau and Bengio over the same seeds and folds",
    "Welch t": "Welch's t-test over seeds",
}
_VALUES = (
    "table", "mode", "method", "label", "dataset", "metric", "probe", "mean", "std", "seeds", "leaky",
    "published_mean", "published_std", "difference", "gain_in_stds", "best", "average_rank", "status", "reason",
)  # fmt: skip


def title(comparison: Comparison) -> str:
    modes = " and ".join(comparison.modes)
    return f"{comparison.table.title}: mode {modes} ({comparison.table.name}; {comparison.table.source})"


def main_table(comparison: Comparison) -> Table:
    """Methods down, data sets across; a line for each mode, and below them the paper's."""
    heads = (Column(*_heading(comparison, dataset)) for dataset in comparison.datasets)
    columns = (Column("method", "name"), Column(""), *heads, Column("rank", "number"))
    rows = [line for row in comparison.rows for line in _lines(comparison, row)]
    return Table(columns, tuple(rows), title(comparison), notes=tuple(notes(comparison)))


def duel_tables(comparison: Comparison) -> list[Table]:
    """For every mode and reference: a row per rival."""
    found = []
    for mode, reference, won in _duels(comparison):
        heading = f"{printed_label(reference)} against each rival ({mode})"
        found.append(Table(_DUEL_COLUMNS, tuple(Row(_duel_cells(duel)) for duel in won), heading))
    return found


def value_table(comparison: Comparison) -> Table:
    """Every cell with full numbers on its own row, for CSV."""
    return table_of_values(cell_values(comparison), _VALUES)


def to_tree(comparison: Comparison) -> dict[str, Any]:
    """Everything that a table says, for `--json`."""
    rankings = {mode: rank(comparison, mode) for mode in comparison.modes}
    return {
        "table": comparison.table.name,
        "modes": list(comparison.modes),
        "cells": cell_values(comparison),
        "ranks": {mode: {"datasets": list(r.datasets), "average": r.average} for mode, r in rankings.items()},
        "duels": [_duel_values(mode, duel) for mode, _, won in _duels(comparison) for duel in won],
    }


def cell_values(comparison: Comparison) -> list[dict[str, Any]]:
    """Every cell with full numbers; `difference` is ours minus the paper's, `gain_in_stds` above 0 where better."""
    rows = []
    for mode in comparison.modes:
        ranks = rank(comparison, mode).average
        for row in comparison.rows:
            for dataset in comparison.datasets:
                rows.append({**_values(comparison, mode, row, dataset), "average_rank": ranks.get(row)})
    return rows


def notes(comparison: Comparison) -> list[str]:
    """All notes below a table."""
    found = (
        LEGEND,
        *leak_notes(comparison),
        start_note(comparison),
        precision_note(comparison),
        *fold_notes(comparison),
        *average_notes(comparison),
        *rank_notes(comparison),
        test_note(comparison),
        *gap_notes(comparison),
    )
    return [note for note in found if note]


def rank_notes(comparison: Comparison) -> list[str]:
    """Over which data sets and rows the average ranks are."""
    found = []
    for mode in comparison.modes:
        ranking = rank(comparison, mode)
        if not ranking.rows:
            continue
        left_out = [printed_label(row) for row in comparison.rows if row not in ranking.rows]
        without = f", without {', '.join(left_out)}" if left_out else ""
        where = f"Ranks ({mode}): average over {', '.join(ranking.datasets)}"
        found.append(f"{where}, where all {len(ranking.rows)} ranked methods have a value{without}.")
    return found


def test_note(comparison: Comparison) -> str:
    """How the wins were decided."""
    kinds = sorted({t.kind for _, _, won in _duels(comparison) for duel in won for t in duel.tests.values()})
    if not kinds:
        return ""
    how = "; ".join(_TESTS[kind] for kind in kinds)
    return f"A win or loss is a difference with p < 0.05, by {how}; one seed proves nothing and is a tie."


def gap_notes(comparison: Comparison) -> list[str]:
    """Why cells are empty or incomplete; each reason is given once."""
    groups: dict[tuple[str, str], list[str]] = {}
    for mode, row, dataset, gap in comparison.gaps():
        where = f"{printed_label(row)} on {dataset}" + (f" ({mode})" if len(comparison.modes) > 1 else "")
        groups.setdefault((gap.status, gap.detail), []).append(where)
    return [
        f"{status.capitalize()}: {_few(places)}.{' ' + detail if detail else ''}"
        for (status, detail), places in groups.items()
    ]


def _lines(comparison: Comparison, row: str) -> Iterator[Row]:
    """A line for each mode, and one for the paper where it has the row."""
    about = row == numbers.REFERENCE
    name = Cell(printed_label(row))
    for mode in comparison.modes:
        found = [(comparison.cell(mode, row, d), row in comparison.best(mode, d)) for d in comparison.datasets]
        name_of_mode = mode if len(comparison.modes) > 1 else "ours"
        leaky = any(cell.record and is_leaky(cell.record) for cell, _ in found)
        what = Cell(f"{name_of_mode}, leaky" if leaky else name_of_mode, faint=True)
        place = rank(comparison, mode).average.get(row)
        end = Cell("" if place is None else f"{place:.2f}")
        yield Row((name, what, *(_ours(*cell) for cell in found), end), mode == comparison.modes[0], about)
        name = Cell()
    theirs = [_published(comparison, row, d) for d in comparison.datasets]
    if any(theirs):
        yield Row((name, Cell(_PAPER, faint=True), *(Cell(t or EMPTY, faint=True) for t in theirs), Cell()))


def _ours(cell: ComparedCell, best: bool) -> Cell:
    """`88.54 ± 1.51 (5) -0.5σ`, or why there is no number; an asterisk where seeds are missing."""
    record, gap = cell.record, cell.gap
    if record is None:
        gap = gap or Gap("not run")
        return Cell(gap.status, faint=True, tip=gap.detail)
    detail = f"({len(record.seeds)}{'*' if gap else ''}) {numbers.in_stds(cell.gain_in_stds)}".rstrip()
    values = ", ".join(f"{value:.{numbers.decimals(record.metric)}f}" for value in record.values)
    tip = f"seeds {', '.join(map(str, record.seeds))}: {values}" + (f". {gap}" if gap else "")
    return Cell(numbers.result(record), detail, best, verdict=cell.verdict, tip=tip)


def _published(comparison: Comparison, row: str, dataset: str) -> str:
    found = comparison.table.result(dataset, row)
    return numbers.mean_std(found.mean, found.std, found.metric) if found else ""


def _heading(comparison: Comparison, dataset: str) -> tuple[str, Any, str]:
    """Only errors need an arrow: everyone knows that higher accuracy is better."""
    metric, higher = comparison.metric(dataset)
    name = dataset if higher else f"{dataset} ↓"
    return name, "number", numbers.metric_label(metric, higher) if metric else ""


def _values(comparison: Comparison, mode: str, row: str, dataset: str) -> dict[str, Any]:
    cell = comparison.cell(mode, row, dataset)
    record, published, gap = cell.record, cell.published, cell.gap
    return {
        "table": comparison.table.name,
        "mode": mode,
        "method": row,
        "label": printed_label(row),
        "dataset": dataset,
        "metric": comparison.metric(dataset)[0],
        "probe": record.probe if record else comparison.table.probe,
        "mean": record.mean if record else None,
        "std": record.std if record else None,
        "seeds": len(record.seeds) if record else 0,
        "leaky": is_leaky(record) if record else None,
        "published_mean": published.mean if published else None,
        "published_std": published.std if published else None,
        "difference": round(record.mean - published.mean, 6) if record and published else None,
        "gain_in_stds": None if cell.gain_in_stds is None else round(cell.gain_in_stds, 4),
        "best": row in comparison.best(mode, dataset),
        "status": gap.status if gap else "complete",
        "reason": gap.detail if gap else "",
    }


def _duels(comparison: Comparison) -> list[tuple[str, str, list[Duel]]]:
    """Mode, reference, and its duels, where there are any."""
    found = (
        (mode, reference, duels(comparison, mode, reference))
        for mode in comparison.modes
        for reference in REFERENCES
        if reference in comparison.rows
    )
    return [(mode, reference, won) for mode, reference, won in found if won]


def _duel_cells(duel: Duel) -> tuple[Cell, ...]:
    clear = [f"{dataset} {'+' if test.verdict > 0 else '-'}" for dataset, test in duel.tests.items() if test.verdict]
    texts = (
        printed_label(duel.rival),
        str(duel.count(1)),
        str(duel.count(0)),
        str(duel.count(-1)),
        f"{duel.better_means} of {len(duel.tests)}",
        EMPTY if duel.wilcoxon_p is None else f"{duel.wilcoxon_p:.3f}",
        ", ".join(clear) or EMPTY,
    )
    return tuple(map(Cell, texts))


def _duel_values(mode: str, duel: Duel) -> dict[str, Any]:
    return {
        "mode": mode,
        "method": duel.reference,
        "rival": duel.rival,
        "wins": duel.count(1),
        "ties": duel.count(0),
        "losses": duel.count(-1),
        "better_means": duel.better_means,
        "wilcoxon_p": duel.wilcoxon_p,
        "tests": {dataset: _test_values(test) for dataset, test in duel.tests.items()},
    }


def _test_values(test: Test) -> dict[str, Any]:
    return {"difference": test.difference, "p": test.p, "kind": test.kind}


def _few(places: Sequence[str]) -> str:
    shown = "; ".join(places[:6])
    return shown if len(places) <= 6 else f"{shown}; and {len(places) - 6} more"
