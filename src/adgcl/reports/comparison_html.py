"""A Comparison as one HTML page that needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from adgcl.core.gaps import Gap
from adgcl.reports import numbers
from adgcl.reports.comparison import Comparison, Entry, label
from adgcl.reports.comparison_notes import DUEL_COLUMNS, duel_tables, gap_notes, rank_notes, test_note
from adgcl.reports.grid import published
from adgcl.reports.ranking import rank

# Within this many published standard deviations two numbers are as good as equal.
_EQUAL = 1.0


def to_html(comparison: Comparison) -> str:
    """A page: the table with colours for better and worse, wins against every rival, and why cells are empty."""
    from jinja2 import Environment

    template = files("adgcl.reports").joinpath("templates/comparison.html").read_text(encoding="utf-8")
    page = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(template)
    modes = comparison.modes
    return (
        page.render(
            name=comparison.table.name,
            title=comparison.table.title,
            source=comparison.table.source,
            modes=modes,
            columns=[_column(comparison, dataset) for dataset in comparison.datasets],
            rows=[_row(comparison, row) for row in comparison.rows],
            duel_columns=DUEL_COLUMNS,
            duels=duel_tables(comparison),
            notes=[note for note in (*rank_notes(comparison), test_note(comparison)) if note],
            gaps=gap_notes(comparison),
        )
        + "\n"
    )


def _column(comparison: Comparison, dataset: str) -> dict[str, str]:
    metric, higher = comparison.metric(dataset)
    return {"name": dataset, "metric": numbers.metric_label(metric, higher) if metric else ""}


def _row(comparison: Comparison, row: str) -> dict[str, Any]:
    ranks = [rank(comparison, mode).average.get(row) for mode in comparison.modes]
    return {
        "name": row,
        "label": label(row),
        "reference": row == "adgcl",
        "cells": [_cell(comparison, row, dataset) for dataset in comparison.datasets],
        "ranks": ["" if place is None else f"{place:.2f}" for place in ranks],
    }


def _cell(comparison: Comparison, row: str, dataset: str) -> dict[str, Any]:
    entries = [(mode, comparison.entry(mode, row, dataset)) for mode in comparison.modes]
    return {
        "ours": [_ours(mode, entry, row in comparison.best(mode, dataset)) for mode, entry in entries],
        "paper": published(comparison, row, dataset),
    }


def _ours(mode: str, entry: Entry, best: bool) -> dict[str, Any]:
    record, gain = entry.record, entry.gain_in_stds
    if record is None:
        gap = entry.gap or Gap("not run")
        return {"mode": mode, "text": gap.status, "empty": True, "tip": gap.detail}
    tip = (
        f"seeds {_listed(record.seeds)}: {_listed([f'{v:.{numbers.decimals(record.metric)}f}' for v in record.values])}"
    )
    return {
        "mode": mode,
        "text": numbers.result(record),
        "seeds": f"{len(record.seeds)}{'*' if entry.gap else ''}",
        "best": best,
        "gain": numbers.in_stds(gain),
        "verdict": "" if gain is None else "better" if gain > _EQUAL else "worse" if gain < -_EQUAL else "equal",
        "tip": tip + (f". {entry.gap}" if entry.gap else ""),
    }


def _listed(values: Sequence[object]) -> str:
    return ", ".join(map(str, values))
