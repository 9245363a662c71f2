"""Verdicts on the paper's claims, from trials made up so that the answer is known; figures from whatever there is."""

from __future__ import annotations

import builtins

import numpy as np
import pytest

from adgcl.reports.sweeps import figure2, figure3, overview
from adgcl.reports.sweeps.findings import compared, difference, falls, rank_correlation, rises
from adgcl.reports.sweeps.page import gap_lines, write_figures, write_page
from adgcl.reports.sweeps.points import Point, points
from adgcl.reports.sweeps.summary import setting, summary

LAMBDAS, RATIOS = (0.1, 0.3, 0.5, 1.0, 2.0, 5.0, 10.0), tuple(round(0.1 * i, 1) for i in range(10))


def trial(arm, seed=0, higher=True, **values):
    about = {"dataset": "TOYS", "arm": arm, "seed": seed, "status": "finished", "score": "linear", "epochs": 2}
    return {**about, "metric": "accuracy" if higher else "rmse", "higher_is_better": higher, **values}


def figure3_tables(ratio, ours, theirs, seeds=3, higher=True, noise=0.1, swing=0.0):
    """Trials with a drop ratio by lambda, and validation scores by lambda and by NAD-GCL's ratio.

    During training the drop ratio swings around its value at the end.
    """
    rng = np.random.default_rng(0)
    trials = []
    for seed in range(seeds):
        for value in LAMBDAS:
            scores = {name: ours(value) + noise * rng.normal() for name in ("valid", "test")}
            trials.append(
                trial("AD-GCL", seed, higher, **{"method.reg_lambda": value}, drop_ratio_at_end=ratio(value), **scores)
            )
        for value in RATIOS:
            scores = {name: theirs(value) + noise * rng.normal() for name in ("valid", "test")}
            trials.append(
                trial("NAD-GCL", seed, higher, **{"method.drop_ratio": value}, drop_ratio_at_end=value, **scores)
            )
    course = [
        {k: v for k, v in row.items() if "." in k or k in ("dataset", "arm", "seed")}
        | {"epoch": epoch, "valid": row["valid"], "test": row["test"]}
        | {"drop_ratio": row["drop_ratio_at_end"] + swing * (-1) ** epoch}
        for row in trials for epoch in range(1, 13)
    ]  # fmt: skip
    spread = {"q05": 0.1, "q25": 0.2, "q50": 0.3, "q75": 0.5, "q95": 0.8}
    measured = [
        {"dataset": "TOYS", "arm": "AD-GCL", "seed": 0, "method.reg_lambda": value, "kind": kind, "group": group,
         "mean": 0.3, "decided": 0.4, **spread}
        for value in LAMBDAS for kind, group in (("all", "all"), ("degree", "1"), ("degree", "2"))
    ]  # fmt: skip
    return {"trials": trials, "courses": course, "drop_probabilities": measured}


def verdicts(tables, kind=figure3):
    return {finding.claim: finding.verdict for finding in kind.findings(tables)}


def test_where_everything_is_as_the_paper_says_all_is_confirmed():
    ratios = dict(zip(LAMBDAS, (0.9, 0.7, 0.6, 0.4, 0.2, 0.06, 0.02)))
    tables = figure3_tables(ratios.get, lambda v: 80.0, lambda v: 70.0 - 20 * v)
    assert set(verdicts(tables).values()) == {"confirmed"} and len(verdicts(tables)) == 9


def test_where_everything_is_the_other_way_round_all_is_refuted():
    tables = figure3_tables(lambda v: 0.1 + 0.08 * v, lambda v: 40.0 + 3 * v, lambda v: 75.0, swing=1.0)
    for row in tables["drop_probabilities"]:
        row["decided"] = 0.001
    assert set(verdicts(tables).values()) == {"refuted"}


def test_one_seed_cannot_tell_a_difference_from_noise():
    tables = figure3_tables(lambda v: 0.9 / (1 + 3 * v), lambda v: 80.0, lambda v: 70.0, seeds=1)
    assert verdicts(tables)["At λ ≥ 5 AD-GCL beats NAD-GCL that drops 0 to 10 %."] == "undecided"
    better = "AD-GCL is uniformly better than NAD-GCL at the same drop ratio."
    for seeds, verdict in ((1, "undecided"), (2, "refuted")):
        tables = figure3_tables(lambda v: 0.9 / (1 + 3 * v), lambda v: 2.0, lambda v: 1.0, seeds, higher=False)
        assert verdicts(tables)[better] == verdict


def test_regression_has_claims_of_its_own():
    tables = figure3_tables(
        lambda v: 0.95 / (1 + v), lambda v: 1.0 + 0.1 * np.log10(v), lambda v: 2.0 - v, higher=False, noise=0.0
    )
    found = verdicts(tables)
    assert found["On regression a smaller λ, so more dropping, is better."] == "confirmed"
    assert found["On regression more dropping is better for NAD-GCL too."] == "confirmed"
    assert not [claim for claim in found if "robust" in claim]


def test_figure_2_says_how_large_the_gap_is():
    rng = np.random.default_rng(1)
    means = {"InfoMax": 75.0, "InfoMax + random labels": 65.0, "InfoMax + true labels": 80.0, "AD-GCL": 75.0}
    trials = [
        trial(arm, seed, test_at_end=mean + rng.normal(), valid=mean, label_loss_at_end=0.5)
        for arm, mean in means.items()
        for seed in range(5)
    ]
    about = {"dataset": "TOYS", "seed": 0, "pairs": 10, "coinciding": 1}
    apart = [{**about, "arm": "InfoMax", "alike": 1}, {**about, "arm": "InfoMax + random labels", "alike": 0}]
    found = list(figure2.findings({"trials": trials, "separation": apart}))
    answers = {finding.claim: finding for finding in found}
    assert answers["InfoMax: the map is one to one."].verdict == "confirmed"
    assert answers["InfoMax + random labels: the map is one to one."].verdict == "refuted"
    gap = next(finding for claim, finding in answers.items() if claim.startswith("Random labels degrade"))
    assert gap.verdict == "confirmed" and 8 < float(gap.numbers.split()[4]) < 12
    assert gap.numbers.endswith("loss on the random labels 0.50 (guessing: 0.69)")
    assert answers["True labels end above random ones."].verdict == "confirmed"
    assert answers["InfoMax + true labels ends above InfoMax (beyond the paper)."].verdict == "confirmed"
    assert answers["AD-GCL ends above InfoMax (beyond the paper)."].verdict == "undecided"


def test_differences_are_over_seeds_and_not_over_points():
    ours = [Point(v, tuple(trial("a", s, valid=float(s)) for s in range(3))) for v in (1, 2)]
    theirs = [Point(1, tuple(trial("b", s, valid=2.0 * s) for s in range(3)))]
    gap, error = difference(ours, theirs, "valid")
    assert gap == pytest.approx(-1.0)
    assert error == pytest.approx(np.sqrt(1 / 3 + 4 / 3))
    assert compared(gap, error, True) == "undecided" and compared(-4.0, error, True) == "refuted"
    assert compared(-4.0, error, False) == "confirmed"
    assert np.isnan(rank_correlation([1, 2, 3], [5, 5, 5]))


def test_a_trend_must_be_more_than_chance():
    """Of seven points, Spearman's table asks for 0.714 (one-sided, 5 %)."""
    prices = list(range(7))
    clear, vague = [3, 6, 4, 5, 2, 0, 1], [2, 6, 3, 5, 0, 4, 1]
    assert rank_correlation(prices, clear) < -0.714 < rank_correlation(prices, vague) < -0.3
    assert (falls(prices, clear), rises(prices, clear)) == ("confirmed", "refuted")
    assert (falls(prices, vague), rises(prices, vague)) == ("undecided", "undecided")
    assert falls(prices, [1] * 7) == "undecided"


def test_figures_and_page_are_made_although_trials_failed(tmp_path):
    tables = figure3_tables(lambda v: 0.9 / (1 + v), lambda v: 80.0, lambda v: 70.0, seeds=2)
    for row in tables["trials"][:3]:
        row.update(status="failed", detail="Out of memory.")
        del row["valid"]
    tables["trials"].append({"dataset": "GONE", "arm": "AD-GCL", "seed": 0, "status": "no data", "detail": "Not here."})
    paths, lacking = write_figures("figure3", tables, tmp_path)
    assert not lacking and {path.name for path in paths} == {
        f"figure3{x}.{kind}" for x in "abcd" for kind in ("png", "svg")
    }
    assert all(path.stat().st_size > 2000 for path in paths)
    text = write_page("figure3", "Title", ["adgcl sweep"], tables, tmp_path, paths).read_text(encoding="utf-8")
    assert "reg_lambda=0.1 on TOYS: failed. Out of memory." in text and "GONE: no data" in text
    assert "figure3c.png" in text and "| TOYS | The drop ratio falls with λ. |" in text


def test_other_sweeps_have_figures_too(tmp_path):
    tables = figure3_tables(lambda v: 0.9 / (1 + v), lambda v: 80.0, lambda v: 70.0, seeds=2)
    tables["trials"] += [trial("untrained", seed, valid=60.0, test=59.0) for seed in range(2)]
    paths, _ = write_figures("sweep", tables, tmp_path, ["pdf"])
    assert [path.name for path in paths] == ["score.pdf", "drop_ratio.pdf"]
    assert not list(overview.findings(tables))


def test_without_any_finished_trial_there_is_a_page_and_no_figure(tmp_path):
    tables = {
        "trials": [{"dataset": "GONE", "arm": "a", "seed": s, "status": "failed", "detail": "x"} for s in (0, 1)],
        "courses": [],
    }
    for name in ("figure2", "figure3", "sweep"):
        assert write_figures(name, tables, tmp_path) == ([], "")
        write_page(name, "Title", ["adgcl sweep"], tables, tmp_path, [])
    assert gap_lines(tables["trials"]) == ["a on GONE: failed. x (seeds 0, 1)"]


def test_figures_need_an_extra_and_say_so(tmp_path, monkeypatch):
    tables = figure3_tables(lambda v: 0.5, lambda v: 80.0, lambda v: 70.0)
    imports = builtins.__import__

    def without(name, *arguments):
        if name.startswith("matplotlib"):
            raise ModuleNotFoundError(name=name)
        return imports(name, *arguments)

    monkeypatch.setattr("importlib.import_module", lambda name: without(name))
    paths, lacking = write_figures("figure3", tables, tmp_path)
    assert not paths and 'pip install "adgcl[figures]"' in lacking


def test_the_same_trials_give_the_same_bytes(tmp_path):
    tables = figure3_tables(lambda v: 0.9 / (1 + v), lambda v: 80.0, lambda v: 70.0)
    first, again = (write_figures("figure3", tables, tmp_path / name, ["svg"])[0] for name in "ab")
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in again]


def test_the_summary_has_a_row_for_each_setting():
    tables = figure3_tables(lambda v: 0.9 / (1 + v), lambda v: 80.0, lambda v: 70.0, seeds=2, noise=0.0)
    table = summary(tables["trials"], "Title")
    assert len(table.rows) == len(LAMBDAS) + len(RATIOS)
    assert [cell.text for cell in table.rows[0].cells] == [
        "TOYS",
        "AD-GCL",
        "reg_lambda=0.1",
        "80.00 ± 0.00",
        "80.00 ± 0.00",
        "0.818",
        "2",
    ]
    assert setting({"method.drop_budget": 0.3, "encoder.name": "gin", "seed": 1}) == "drop_budget=0.3, name=gin"
    assert [point.value for point in points(tables["trials"], "TOYS", "AD-GCL", "method.reg_lambda")] == list(LAMBDAS)
