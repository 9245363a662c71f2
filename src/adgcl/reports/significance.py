"""Significance: is a difference between two methods more than chance?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from adgcl.core.records import Record
from adgcl.protocols.base import PROTOCOLS
from adgcl.reports.comparison import Comparison

LEVEL = 0.05
FEWEST_DATASETS = 6


@dataclass(frozen=True)
class Test:
    """The mean difference (above 0: the first is better), the chance of one this large, and how it was computed."""

    difference: float
    p: float | None
    kind: str

    @property
    def verdict(self) -> int:
        """1 for a win, -1 for a loss, 0 if it could be chance."""
        if self.p is None or self.p >= LEVEL:
            return 0
        return 1 if self.difference > 0 else -1


@dataclass(frozen=True)
class Duel:
    """One method against a rival over the data sets that both have."""

    reference: str
    rival: str
    tests: dict[str, Test]
    wilcoxon_p: float | None

    def count(self, verdict: int) -> int:
        return sum(test.verdict == verdict for test in self.tests.values())

    @property
    def better_means(self) -> int:
        return sum(test.difference > 0 for test in self.tests.values())


def duels(comparison: Comparison, mode: str, reference: str) -> list[Duel]:
    """`reference` against every other row that shares a data set with it."""
    found = []
    for rival in comparison.rows:
        pairs = {
            dataset: (ours, theirs)
            for dataset in comparison.datasets
            if (ours := comparison.record(mode, reference, dataset))
            and (theirs := comparison.record(mode, rival, dataset))
        }
        if rival != reference and pairs:
            tests = {dataset: compare(*pair) for dataset, pair in pairs.items()}
            found.append(Duel(reference, rival, tests, wilcoxon(list(pairs.values()))))
    return found


def compare(a: Record, b: Record) -> Test:
    """Two Records of one data set: paired over seeds and folds where the folds are the same, else over seeds."""
    sign = 1.0 if a.higher_is_better else -1.0
    difference = sign * (a.mean - b.mean)
    paired = shared_folds(a, b)
    if paired is not None:
        folds_a, folds_b, num_folds = paired
        gaps = sign * (folds_a - folds_b)
        return Test(float(gaps.mean()), corrected_t(gaps, num_folds), "corrected paired t")
    return Test(difference, welch_t(a.values, b.values), "Welch t")


def shared_folds(a: Record, b: Record) -> tuple[np.ndarray, np.ndarray, int] | None:
    """Test scores fold by fold of the seeds both have, where the protocol gives all methods the same folds."""
    strict = a.mode == b.mode == "strict" and a.protocol == b.protocol and a.protocol in PROTOCOLS
    if not strict or not PROTOCOLS[a.protocol].shares_folds:
        return None
    if a.data.get("graphs") != b.data.get("graphs"):
        return None
    ours, theirs = ({run["seed"]: run.get("folds", []) for run in record.runs} for record in (a, b))
    seeds = sorted(set(ours) & set(theirs))
    lengths = {len(side[seed]) for seed in seeds for side in (ours, theirs)}
    if not seeds or len(lengths) != 1 or (count := lengths.pop()) < 2:
        return None
    pairs = [(x, y) for seed in seeds for x, y in zip(ours[seed], theirs[seed]) if x is not None and y is not None]
    if len(pairs) < 2:
        return None
    left, right = np.array(pairs, dtype=np.float64).T
    return left, right, count


def corrected_t(gaps: Sequence[float] | np.ndarray, num_folds: int) -> float:
    """Two-sided p of Nadeau and Bengio's corrected resampled t-test.

    `t = mean / sqrt((1/n + test/train) var)` with n - 1 degrees of freedom, where test/train = 1 / (folds - 1): folds
    share their training graphs, which the plain t-test would count as independent evidence.
    """
    from scipy.stats import t as student

    gaps = np.asarray(gaps, dtype=np.float64)
    n, variance = len(gaps), float(np.var(gaps, ddof=1))
    if variance == 0.0:
        return 1.0 if gaps.mean() == 0 else 0.0
    statistic = float(gaps.mean()) / math.sqrt((1 / n + 1 / (num_folds - 1)) * variance)
    return float(2 * student.sf(abs(statistic), n - 1))


def welch_t(a: Sequence[float], b: Sequence[float]) -> float | None:
    """Two-sided p of Welch's t-test over seeds; None where a side has only one."""
    from scipy.stats import ttest_ind

    if len(a) < 2 or len(b) < 2:
        return None
    if np.var(a) == 0.0 and np.var(b) == 0.0:
        return 1.0 if np.mean(a) == np.mean(b) else 0.0
    return float(ttest_ind(a, b, equal_var=False).pvalue)


def wilcoxon(pairs: Sequence[tuple[Record, Record]]) -> float | None:
    """Two-sided p of Wilcoxon's signed-rank test over data sets, at least six of them.

    It uses differences of means, or relative differences if the data sets have different metrics, because an error of
    0.1 and an accuracy of 0.1 cannot be ranked together.
    """
    from scipy.stats import wilcoxon as signed_rank

    if len(pairs) < FEWEST_DATASETS:
        return None
    mixed = len({a.metric for a, _ in pairs}) > 1
    gaps = [
        (a.mean - b.mean) * (1 if a.higher_is_better else -1) / (max(abs(b.mean), 1e-12) if mixed else 1.0)
        for a, b in pairs
    ]
    return float(signed_rank(gaps).pvalue) if any(gaps) else 1.0
