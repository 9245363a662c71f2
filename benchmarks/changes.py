"""How far the scores of two Records are apart, and how much of that is chance."""

from __future__ import annotations

import numpy as np
from scipy.stats import norm

from adgcl.core.records import Record


def by_chance(seeds: int) -> float:
    """How often the means of two equal methods differ by more than a standard deviation over seeds."""
    return float(2 * norm.sf(np.sqrt(seeds / 2)))


def scores_of(record: Record) -> np.ndarray:
    """The score of every seed, in order, at the epoch chosen on validation data."""
    return np.array([run["test"] for run in record.runs])


def means_of(record: Record) -> np.ndarray:
    """The mean over all evaluated epochs of every seed: nothing is selected, so luck matters less."""
    return np.array([np.mean(run["course"]["test"]) for run in record.runs])


def change_of(scores: np.ndarray, usual: np.ndarray) -> tuple[float, float]:
    """How far the mean moved, and the standard error of that.

    The same seed draws the same numbers in both, but training soon amplifies rounding differences, so the two are
    practically independent.
    """
    error = np.sqrt(scores.var(ddof=1) / len(scores) + usual.var(ddof=1) / len(usual))
    return float(scores.mean() - usual.mean()), float(error)


def in_deviations(scores: np.ndarray, usual: np.ndarray) -> float:
    """The change, in units of the larger of the two standard deviations over seeds."""
    return change_of(scores, usual)[0] / float(max(scores.std(ddof=1), usual.std(ddof=1)))
