"""Tuning looks at validation scores alone, and counts only where every value was tried."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from adgcl.experiments.tables.tuning import choose, pool
from adgcl.protocols.seed_run import SeedRun
from adgcl.protocols.selection import Evaluation


def seed_run(*scores: tuple[list[float], list[float]]) -> SeedRun:
    evaluations = tuple(
        Evaluation(5 * i, "linear", float(np.mean(v)), float(np.mean(t)), tuple(v), tuple(t), ())
        for i, (v, t) in enumerate(scores, 1)
    )
    return SeedRun(0, evaluations, {}, 1.5, 10.0)


LOW, HIGH = {"method.reg_lambda": 0.1}, {"method.reg_lambda": 5.0}
# The first has the better validation score in fold 0 and on average, the second in fold 1, and better test scores.
TRIALS = [
    (LOW, seed_run(([0.5, 0.5], [0.1, 0.2]), ([0.9, 0.6], [0.3, 0.4]))),
    (HIGH, seed_run(([0.6, 0.8], [1.0, 1.0]))),
]


def test_published_mode_chooses_by_the_mean_over_folds():
    choice = choose(TRIALS, "linear", "as_published", True, scale=100)
    assert choice.chosen == (LOW,) and choice.candidates == ((LOW, 75.0), (HIGH, 70.0))
    assert pool([run for _, run in TRIALS]).selected("linear", "as_published", True).test == pytest.approx(0.35)


def test_strict_mode_chooses_fold_by_fold():
    choice = choose(TRIALS, "linear", "strict", True)
    assert choice.chosen == (LOW, HIGH)
    chosen = pool([run for _, run in TRIALS]).selected("linear", "strict", True)
    assert chosen.test_folds == (0.3, 1.0) and chosen.valid == pytest.approx(0.85)


@pytest.mark.parametrize("mode", ["as_published", "strict"])
def test_test_scores_do_not_matter(mode):
    turned = [
        (
            v,
            replace(
                r,
                evaluations=tuple(
                    replace(e, test=-e.test, test_folds=tuple(-t for t in e.test_folds)) for e in r.evaluations
                ),
            ),
        )
        for v, r in TRIALS
    ]
    assert choose(turned, "linear", mode, True) == choose(TRIALS, "linear", mode, True)


def test_errors_are_minimised_and_costs_added():
    assert choose(TRIALS, "linear", "as_published", False).chosen == (LOW,)
    assert choose(TRIALS[1:], "linear", "as_published", False).chosen == (HIGH,)
    assert pool([run for _, run in TRIALS]).seconds == 3.0


def test_opt_shares_the_run_of_fix_and_says_what_each_seed_chose(table, tmp_path):
    made = table("adgcl", "adgcl-opt")
    assert len(made.jobs) == 7, "seven values, of which 5 is the row FIX"
    made.run(made.schedule())
    record = made.outcomes()["as_published", "adgcl-opt", "TOYS"].record
    (run,) = record.runs
    assert "course" not in run, "it would be seven, one after another"
    assert record.method == "adgcl-opt" and record.config["tune"]["method.reg_lambda"] == [
        0.1,
        0.3,
        0.5,
        1.0,
        2.0,
        5.0,
        10.0,
    ]
    assert len(run["candidates"]) == 7 and run["valid"] == max(c["valid"] for c in run["candidates"])
    assert {"method.reg_lambda": run["chosen"]["method.reg_lambda"], "valid": run["valid"]} in run["candidates"]


def test_a_half_finished_search_is_no_result(table):
    part = table("adgcl")
    part.run(part.schedule())
    outcome = table("adgcl-opt").outcomes()["as_published", "adgcl-opt", "TOYS"]
    assert outcome.record is None and outcome.gap.status == "unfinished" and "1 of 7" in outcome.gap.detail


def test_the_published_optimum_is_tried_too(table, data_dir):
    made = table("adgcl-opt", datasets=("ogbg-molfreesolv", "ogbg-molesol"), data_dir=data_dir)
    values = {cell.column.name: [t["method.reg_lambda"] for t in cell.trials] for cell in made.cells}
    assert 0.4 in values["ogbg-molesol"] and len(values["ogbg-molesol"]) == 8 and len(values["ogbg-molfreesolv"]) == 7
