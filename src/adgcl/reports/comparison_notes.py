"""Notes under a comparison: what the cells mean, who wins, and why some are empty."""

from __future__ import annotations

from collections.abc import Sequence

from adgcl.reports.comparison import Comparison, label
from adgcl.reports.ranking import rank
from adgcl.reports.significance import Duel, duels

# Whose wins are counted, where they are in the table.
REFERENCES = ("adgcl", "adgcl-best")
DUEL_COLUMNS = ("against", "wins", "ties", "losses", "better mean", "Wilcoxon p", "significant on")
LEGEND = (
    "Each cell: mean ± sample standard deviation over seeds (number of seeds), then the difference to the published "
    "mean in published standard deviations, where + is better. Bold: best of its column. *: seeds are missing."
)


def title(comparison: Comparison) -> str:
    modes = " and ".join(comparison.modes)
    return f"{comparison.table.title}: mode {modes} ({comparison.table.name}; {comparison.table.source})"


def rank_notes(comparison: Comparison) -> list[str]:
    """Over which data sets and rows the average ranks are."""
    notes = []
    for mode in comparison.modes:
        ranking = rank(comparison, mode)
        if not ranking.rows:
            continue
        left_out = [label(row) for row in comparison.rows if row not in ranking.rows]
        without = f", without {', '.join(left_out)}" if left_out else ""
        where = f"Ranks ({mode}): average over {', '.join(ranking.datasets)}"
        notes.append(f"{where}, where all {len(ranking.rows)} ranked methods have a value{without}.")
    return notes


def duel_tables(comparison: Comparison) -> list[tuple[str, list[tuple[str, ...]]]]:
    """For every mode and reference: a title, and a row per rival."""
    found = []
    for mode in comparison.modes:
        for reference in REFERENCES:
            rows = duels(comparison, mode, reference) if reference in comparison.rows else []
            if rows:
                found.append((f"{label(reference)} against each rival ({mode})", [_duel(duel) for duel in rows]))
    return found


def test_note(comparison: Comparison) -> str:
    """How the wins were decided."""
    kinds = sorted({t.kind for mode in comparison.modes for t in _tests(comparison, mode)})
    if not kinds:
        return ""
    known = {
        "corrected paired t": "the corrected paired t-test of Nadeau and Bengio over the same seeds and folds",
        "Welch t": "Welch's t-test over seeds",
    }
    how = "; ".join(known[kind] for kind in kinds)
    return f"A win or loss is a difference with p < 0.05, by {how}; one seed proves nothing and is a tie."


def gap_notes(comparison: Comparison) -> list[str]:
    """Why cells are empty or incomplete; the same reason is said once."""
    groups: dict[tuple[str, str], list[str]] = {}
    for mode, row, dataset, gap in comparison.gaps():
        where = f"{label(row)} on {dataset}" + (f" ({mode})" if len(comparison.modes) > 1 else "")
        groups.setdefault((gap.status, gap.detail), []).append(where)
    return [
        f"{status.capitalize()}: {_few(places)}.{' ' + detail if detail else ''}"
        for (status, detail), places in groups.items()
    ]


def _few(places: Sequence[str]) -> str:
    shown = "; ".join(places[:6])
    return shown if len(places) <= 6 else f"{shown}; and {len(places) - 6} more"


def _duel(duel: Duel) -> tuple[str, ...]:
    clear = [f"{d} {'+' if t.verdict > 0 else '-'}" for d, t in duel.tests.items() if t.verdict]
    return (
        label(duel.rival),
        str(duel.count(1)),
        str(duel.count(0)),
        str(duel.count(-1)),
        f"{duel.better_means} of {len(duel.tests)}",
        "–" if duel.wilcoxon_p is None else f"{duel.wilcoxon_p:.3f}",
        ", ".join(clear) or "–",
    )


def _tests(comparison: Comparison, mode: str) -> list:  # type: ignore[type-arg]
    return [t for r in REFERENCES if r in comparison.rows for d in duels(comparison, mode, r) for t in d.tests.values()]
