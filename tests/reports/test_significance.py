"""The tests of significance are those of the books."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from adgcl.core.records import Record
from adgcl.published import layout
from adgcl.reports.comparison import compare_outcomes
from adgcl.reports.significance import compare, corrected_t, duels, welch_t, wilcoxon
from tests.record_cases import a_record


def strict(method: str, folds: list[list[float]], **changes: Any) -> Record:
    runs = [{"seed": seed, "folds": values} for seed, values in enumerate(folds)]
    means = [float(np.mean(values)) for values in folds]
    facts = {
        "mode": "strict",
        "runs": runs,
        "values": means,
        "seeds": list(range(len(folds))),
        "mean": float(np.mean(means)),
    }
    return a_record(method=method, **{**facts, **changes})


def test_corrected_t_by_hand():
    gaps = [1.0, 2.0, 3.0, 2.0]
    t = 2.0 / math.sqrt((1 / 4 + 1 / 9) * (2 / 3))
    assert corrected_t(gaps, num_folds=10) == pytest.approx(2 * stats.t.sf(t, 3))


def test_the_correction_only_ever_doubts():
    gaps = np.random.default_rng(0).normal(0.5, 1.0, 30)
    assert corrected_t(gaps, 10) > stats.ttest_1samp(gaps, 0.0).pvalue
    assert corrected_t(gaps, 10**9) == pytest.approx(stats.ttest_1samp(gaps, 0.0).pvalue)


def test_no_spread_is_certain():
    assert corrected_t([0.0, 0.0], 10) == 1.0 and corrected_t([1.0, 1.0], 10) == 0.0
    assert welch_t([1.0, 1.0], [1.0, 1.0]) == 1.0 and welch_t([1.0], [1.0, 2.0]) is None


def test_welch_is_scipys():
    a, b = [1.0, 2.0, 3.5], [2.0, 4.0, 4.5, 6.0]
    assert welch_t(a, b) == pytest.approx(stats.ttest_ind(a, b, equal_var=False).pvalue)


def test_strict_records_are_paired_fold_by_fold_over_the_seeds_they_share():
    a = strict("adgcl", [[80.0, 90.0], [70.0, 75.0], [1.0, 2.0]])
    b = strict("graphcl", [[78.0, 89.0], [71.0, 70.0]])
    test = compare(a, b)
    assert test.kind == "corrected paired t" and test.difference == pytest.approx(np.mean([2, 1, -1, 5]))
    assert test.p == pytest.approx(corrected_t([2.0, 1.0, -1.0, 5.0], 2))


@pytest.mark.parametrize(
    "changes",
    [
        {"mode": "as_published"},
        {"protocol": "supervised", "probe": "head"},
        {"runs": [{"seed": 0, "folds": [1.0]}]},
        {"runs": [{"seed": 9, "folds": [1.0, 2.0]}]},
    ],
)
def test_other_records_have_no_folds_in_common(changes):
    folds = [[80.0, 90.0], [70.0, 75.0]]
    assert (
        compare(
            strict("adgcl", folds, **changes), strict("graphcl", folds, **changes if "mode" in changes else {})
        ).kind
        == "Welch t"
    )


def test_undefined_folds_are_left_out():
    a, b = strict("adgcl", [[80.0, 90.0, 85.0]]), strict("graphcl", [[78.0, 89.0, 80.0]])
    a.runs[0]["folds"] = [80.0, None, 85.0]
    assert compare(a, b).p == pytest.approx(corrected_t([2.0, 5.0], 3))


def test_less_error_is_a_gain():
    error = {"metric": "rmse", "higher_is_better": False}
    a, b = (strict(m, [[v, v + 0.1], [v + 0.2, v]], **error) for m, v in (("adgcl", 1.0), ("graphcl", 2.0)))
    assert compare(a, b).verdict == 1 and compare(b, a).verdict == -1


def test_wilcoxon_needs_six_data_sets_and_is_scipys():
    gaps = [1.0, 2.0, -0.5, 3.0, 4.0, 5.0]
    pairs = [(a_record(mean=50 + gap), a_record(mean=50.0)) for gap in gaps]
    assert wilcoxon(pairs) == pytest.approx(stats.wilcoxon(gaps).pvalue) and wilcoxon(pairs[:5]) is None
    assert wilcoxon([(a_record(), a_record())] * 6) == 1.0


def test_metrics_of_different_kinds_are_compared_by_ratio():
    error = {"metric": "rmse", "higher_is_better": False}
    pairs = [(a_record(mean=60.0), a_record(mean=50.0))] * 3 + [
        (a_record(mean=0.9, **error), a_record(mean=1.0, **error))
    ] * 3
    assert wilcoxon(pairs) == pytest.approx(stats.wilcoxon([0.2, 0.2, 0.2, 0.1, 0.1, 0.1]).pvalue)


def test_wins_ties_and_losses():
    records = {
        ("strict", "adgcl", "MUTAG"): strict("adgcl", [[90.0, 91.0], [90.5, 91.5]]),
        ("strict", "graphcl", "MUTAG"): strict("graphcl", [[80.0, 81.1], [80.4, 81.5]]),
        ("strict", "adgcl", "DD"): strict("adgcl", [[70.0, 90.0], [60.0, 91.0]]),
        ("strict", "graphcl", "DD"): strict("graphcl", [[90.0, 71.0], [90.0, 60.0]]),
        ("strict", "graphcl", "NCI1"): strict("graphcl", [[90.0, 71.0]]),
    }
    outcomes: dict[Any, Any] = {place: (record, None) for place, record in records.items()}
    table = compare_outcomes(layout("table1-tu"), ("strict",), ("adgcl", "graphcl"), ("MUTAG", "DD", "NCI1"), outcomes)
    (duel,) = duels(table, "strict", "adgcl")
    assert (duel.count(1), duel.count(0), duel.count(-1), duel.wilcoxon_p) == (1, 1, 0, None) and set(duel.tests) == {
        "MUTAG",
        "DD",
    }
