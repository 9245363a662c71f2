"""The figures of a search: how it went, and what mattered."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from adgcl.core.extras import MissingExtraError
from adgcl.experiments.tuning.choice import Outcome, Row
from adgcl.reports.numbers import metric_label
from adgcl.reports.svg import FAINT, INK
from adgcl.reports.sweeps.drawing import FORMATS, colour, panels, save
from adgcl.reports.tuning.tables import short

CAPTIONS = {
    "history": "Validation score of every trial in the order in which they began, and the best so far. Pruned trials "
    "are shown where they were stopped.",
    "importance": "How much of the variance of validation scores each setting explains, by fANOVA over finished "
    "trials. With few trials this is a rough guide.",
}


def write_figures(found: Outcome, folder: Path, formats: Sequence[str] = FORMATS[:2]) -> tuple[list[Path], str]:
    """Draw what there are trials for; the second part says why there is nothing, where matplotlib is missing."""
    paths: list[Path] = []
    try:
        if any(trial["valid"] is not None for trial in found.trials):
            paths += save(history(found), folder, "history", formats, CAPTIONS["history"])
        if found.importance:
            paths += save(importances(found), folder, "importance", formats, CAPTIONS["importance"])
    except MissingExtraError as error:
        return paths, str(error).replace("\n", " ")
    return paths, ""


def history(found: Outcome) -> Any:
    """Scores by the number of the trial."""
    last = found.trials[-1]["trial"]
    finished = [t for t in found.trials if t["status"] == "finished"]
    pruned = [t for t in found.trials if t["status"] == "pruned" and t["valid"] is not None]
    failed = [t["trial"] for t in found.trials if t["status"] == "failed"]

    def draw(axis: Any, name: str) -> None:
        axis.plot(*_points(finished), "o", color=colour(0), label="finished", zorder=3)
        if pruned:
            axis.plot(*_points(pruned), "o", mfc="none", color=FAINT, label="pruned", zorder=2)
        if finished:
            numbers, best = _points(finished)[0], _best_so_far(finished, found.higher_is_better)
            axis.step([*numbers, last], [*best, best[-1]], where="post", color=colour(1), label="best so far")
        for number in failed:
            axis.axvline(number, color=FAINT, lw=0.8, ls=":", label="failed" if number == failed[0] else None)
        label = metric_label(found.metric, found.higher_is_better)
        axis.set(xlabel="trial", ylabel=f"validation {label}", xlim=(-0.7, last + 0.7))
        axis.xaxis.get_major_locator().set_params(integer=True)
        axis.legend(loc="best")

    figure = panels([found.title], draw)
    figure.set_size_inches(6.0, 3.6)
    return figure


def importances(found: Outcome) -> Any:
    """Settings by how much they matter, the most important on top."""
    names = sorted(found.importance, key=lambda name: found.importance[name])
    shares = [100 * found.importance[name] for name in names]

    def draw(axis: Any, name: str) -> None:
        axis.barh([short(name, found.space) for name in names], shares, color=colour(0), height=0.6)
        for place, share in enumerate(shares):
            axis.text(share + 0.01 * max(shares), place, f"{share:.0f} %", va="center", color=INK, fontsize=8)
        axis.set(xlabel="share of the variance explained (%)", xlim=(0, 1.12 * max(shares)))
        axis.grid(axis="y", visible=False)

    figure = panels([found.title], draw)
    figure.set_size_inches(6.0, 1.2 + 0.32 * len(names))
    return figure


def _points(trials: Sequence[Row]) -> tuple[list[int], list[float]]:
    return [t["trial"] for t in trials], [t["valid"] for t in trials]


def _best_so_far(trials: Sequence[Row], higher_is_better: bool) -> list[float]:
    best: list[float] = []
    for trial in trials:
        best.append((max if higher_is_better else min)([*best[-1:], trial["valid"]]))
    return best
