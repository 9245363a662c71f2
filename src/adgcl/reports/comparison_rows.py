"""A Comparison for machines: one flat row per cell, as CSV or JSON."""

from __future__ import annotations

import csv
import io
from typing import Any

from adgcl.reports.comparison import Comparison, label
from adgcl.reports.comparison_notes import REFERENCES
from adgcl.reports.ranking import rank
from adgcl.reports.significance import duels


def cell_rows(comparison: Comparison) -> list[dict[str, Any]]:
    """Every cell with full numbers; `difference` is ours minus the paper's, `gain_in_stds` above 0 where better."""
    rows = []
    for mode in comparison.modes:
        ranking = rank(comparison, mode)
        for row in comparison.rows:
            for dataset in comparison.datasets:
                entry = comparison.entry(mode, row, dataset)
                record, published, gap = entry.record, entry.published, entry.gap
                rows.append(
                    {
                        "table": comparison.table.name,
                        "mode": mode,
                        "method": row,
                        "label": label(row),
                        "dataset": dataset,
                        "metric": comparison.metric(dataset)[0],
                        "probe": record.probe if record else comparison.table.probe,
                        "mean": record.mean if record else None,
                        "std": record.std if record else None,
                        "seeds": len(record.seeds) if record else 0,
                        "published_mean": published.mean if published else None,
                        "published_std": published.std if published else None,
                        "difference": round(record.mean - published.mean, 6) if record and published else None,
                        "gain_in_stds": None if entry.gain_in_stds is None else round(entry.gain_in_stds, 4),
                        "best": row in comparison.best(mode, dataset),
                        "average_rank": ranking.average.get(row),
                        "status": gap.status if gap else "complete",
                        "reason": gap.detail if gap else "",
                    }
                )
    return rows


def to_csv(comparison: Comparison) -> str:
    rows = cell_rows(comparison)
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]) if rows else ["table"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def to_tree(comparison: Comparison) -> dict[str, Any]:
    """Everything that a table says, for `--json`."""
    rankings = {mode: rank(comparison, mode) for mode in comparison.modes}
    fights = [d for m in comparison.modes for r in REFERENCES if r in comparison.rows for d in _duels(comparison, m, r)]
    return {
        "table": comparison.table.name,
        "modes": list(comparison.modes),
        "cells": cell_rows(comparison),
        "ranks": {mode: {"datasets": list(r.datasets), "average": r.average} for mode, r in rankings.items()},
        "duels": fights,
    }


def _duels(comparison: Comparison, mode: str, reference: str) -> list[dict[str, Any]]:
    return [
        {
            "mode": mode,
            "method": duel.reference,
            "rival": duel.rival,
            "wins": duel.count(1),
            "ties": duel.count(0),
            "losses": duel.count(-1),
            "better_means": duel.better_means,
            "wilcoxon_p": duel.wilcoxon_p,
            "tests": {d: {"difference": t.difference, "p": t.p, "kind": t.kind} for d, t in duel.tests.items()},
        }
        for duel in duels(comparison, mode, reference)
    ]
