"""Findings: a claim of the paper, our numbers, and whether they agree; the rules are written beside each claim."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan, sqrt
from typing import Literal

import numpy as np

from adgcl.reports.sweeps.points import Point

Verdict = Literal["confirmed", "refuted", "undecided"]
# Differences within this many standard errors are noise.
_ERRORS = 2.0
# A trend that chance would show less often than this is one.
_CHANCE = 0.05


@dataclass(frozen=True)
class Finding:
    """What the paper says about a data set, what our numbers say to that, and the numbers in words."""

    figure: str
    dataset: str
    claim: str
    verdict: Verdict
    numbers: str


def decide(yes: bool, no: bool) -> Verdict:
    return "confirmed" if yes else "refuted" if no else "undecided"


def rank_correlation(a: Sequence[float], b: Sequence[float]) -> float:
    """Spearman's coefficient; NaN if either does not vary."""
    return _trend(a, b)[0]


def falls(values: Sequence[float], scores: Sequence[float]) -> Verdict:
    """Whether scores fall as values rise, or the reverse, beyond what chance does in one case of twenty."""
    rank, less, greater = _trend(values, scores)
    return "undecided" if isnan(rank) else decide(less < _CHANCE, greater < _CHANCE)


def rises(values: Sequence[float], scores: Sequence[float]) -> Verdict:
    return falls(values, [-score for score in scores])


def _trend(a: Sequence[float], b: Sequence[float]) -> tuple[float, float, float]:
    """Spearman's coefficient, and how likely one so low or so high would be by chance."""
    from scipy.stats import spearmanr

    if len(a) < 3 or len(set(a)) < 2 or len(set(b)) < 2:
        return (float("nan"),) * 3
    less, greater = (float(spearmanr(a, b, alternative=side).pvalue) for side in ("less", "greater"))
    return float(spearmanr(a, b).statistic), less, greater


def difference(ours: Sequence[Point], theirs: Sequence[Point], column: str) -> tuple[float, float]:
    """The difference of two groups of points, and its standard error over seeds; NaN if seeds cannot tell.

    Seeds are compared by their mean over the points of a group, so that points of one seed count once.
    """
    means = []
    for group in (ours, theirs):
        seeds: dict[int, list[float]] = {}
        for point in group:
            for row in point.rows:
                seeds.setdefault(row["seed"], []).append(row[column])
        means.append(np.array([np.mean(values) for values in seeds.values()]))
    if any(len(group) == 0 for group in means):
        return float("nan"), float("nan")
    gap = float(means[0].mean() - means[1].mean())
    if min(len(group) for group in means) < 2:
        return gap, float("nan")
    return gap, sqrt(sum(float(group.var(ddof=1)) / len(group) for group in means))


def compared(gap: float, error: float, higher: bool) -> Verdict:
    """Whether `gap`, ours minus theirs, is an advantage beyond noise."""
    good = gap if higher else -gap
    if isnan(good) or isnan(error):
        return "undecided"
    return decide(good > _ERRORS * error, good < -_ERRORS * error)


def in_words(gap: float, error: float, unit: str = "") -> str:
    shown = "one seed, so its noise is unknown" if isnan(error) else f"standard error {error:.2g}"
    return f"{gap:+.3g}{unit} ({shown})"
