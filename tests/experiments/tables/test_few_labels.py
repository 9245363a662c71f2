"""A table about few labels pre-trains once for each row and seed, and both modes learn from there."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest

from adgcl.core.errors import ConfigError
from adgcl.core.records import read_records
from adgcl.experiments.planning import Plan
from adgcl.experiments.presets import row_title
from adgcl.experiments.tables.reproduction import Reproduction, TableRequest, open_table
from adgcl.protocols.identity import full_settings, read_settings, settings_of
from adgcl.published import layout
from adgcl.reports.comparison import compare_outcomes
from adgcl.reports.comparison_files import to_csv
from adgcl.reports.comparison_tables import main_table, notes

NARROW = ("encoder.hidden_dim=8", "encoder.num_layers=2")
BOTH = ("as_published", "strict")


@pytest.fixture
def made(toys: Path, tmp_path: Path) -> Any:
    def make(*methods: str, **changes: Any) -> Reproduction:
        wanted: dict[str, Any] = {
            "table": layout("table3"), "datasets": (str(toys),), "methods": methods, "seeds": 2, "jobs": 1,
            "executor": "inline", "modes": BOTH, "work": tmp_path / "runs", "out": tmp_path / "results",
            "assignments": (*NARROW, "training.epochs=2", "num_folds=3", "label_rate=0.5"),
            "pretraining": (*NARROW, "training.epochs=1"),
        }  # fmt: skip
        return open_table(TableRequest(**{**wanted, **changes}))

    return make


def test_both_modes_learn_from_one_pre_training_of_each_seed(made, tmp_path):
    table = made("no_pretrain", "ss_gcn_a", "adgcl", "gae", "statistics")
    before = [str(job) for job in table.jobs if job.label.startswith("pre-training")]
    expected = [(row, seed) for row in ("adgcl", "gae") for seed in (0, 1)]
    assert sorted(before) == [f"pre-training {row} on TOYS, as_published, seed {seed}" for row, seed in expected]
    table.run(table.schedule())
    outcomes = table.outcomes()
    assert all(outcome.gap is None for outcome in outcomes.values())
    seeds = {place[:2]: outcome.record.seeds for place, outcome in outcomes.items()}
    assert seeds["as_published", "statistics"] == [0], "the same counts and the same labels: a second seed adds nothing"
    assert all(found == [0, 1] for place, found in seeds.items() if place != ("as_published", "statistics"))
    adgcl = [outcomes[mode, "adgcl", "TOYS"].record for mode in BOTH]
    weights = [[row["started_from"] for row in record.runs] for record in adgcl]
    assert weights[0] == weights[1] and len(set(weights[0])) == 2, "one encoder for each seed, and both modes use it"
    assert all("checksum" not in record.config["started_from"] for record in adgcl)
    assert any(note.endswith("every seed has an encoder of its own.") for note in adgcl[0].notes)
    assert len(read_records(tmp_path / "results")) == 10
    again = made("no_pretrain", "ss_gcn_a", "adgcl", "gae", "statistics")
    assert all(job.result() is not None for job in again.jobs), "nothing is trained twice"
    pairs = {place: (found.record, found.gap) for place, found in outcomes.items()}
    compared = compare_outcomes(layout("table3"), BOTH, ("no_pretrain", "adgcl", "statistics"), ("TOYS",), pairs)
    lines = [[cell.plain for cell in row.cells][:2] for row in main_table(compared).rows]
    assert lines[:2] == [["No Pre-Train", "as_published, leaky"], ["", "strict"]]
    assert lines[4][1] == "as_published", "no epoch was chosen for what is only counted"
    leaky = {(row["method"], row["mode"]): row["leaky"] for row in csv.DictReader(io.StringIO(to_csv(compared)))}
    assert {place for place, said in leaky.items() if said == "True"} == {
        ("no_pretrain", "as_published"), ("adgcl", "as_published"),
    }  # fmt: skip
    said = notes(compared)
    assert any(note.startswith("Leaky:") and "(mode as_published)" in note for note in said)
    assert sum("over the folds of a seed" in note for note in said) == 2


def test_seeds_that_were_run_elsewhere_join_the_same_records(made, tmp_path):
    parts = [made("adgcl", "no_pretrain", "statistics", **which, work=tmp_path / str(number)) for number, which in
             enumerate(({"seeds": 1}, {"seeds": 2, "first_seed": 1}))]  # fmt: skip
    whole = made("adgcl", "no_pretrain", "statistics", seeds=3, work=tmp_path / "whole", out=tmp_path / "apart")
    for table in (*parts, whole):
        table.run(table.schedule())
        table.outcomes()
    found, expected = (
        {(record.method, record.mode): record for record in read_records(tmp_path / folder)}
        for folder in ("results", "apart")
    )
    assert len(found) == len(expected) == 6 and len(read_records(tmp_path / "results")) == 6
    for place, record in found.items():
        other = expected[place]
        assert (record.seeds, record.values) == (other.seeds, other.values), place
        assert (record.mean, record.std, set(record.notes)) == (other.mean, other.std, set(other.notes))
    assert found["adgcl", "strict"].seeds == [0, 1, 2] and found["statistics", "as_published"].seeds == [0]


def test_the_pre_training_of_a_tuned_row_is_chosen_as_its_epoch_is(made):
    table = made("adgcl-opt", seeds=1, pretraining=NARROW, assignments=(*NARROW, "training.epochs=2", "num_folds=3",
                 "label_rate=0.5"))  # fmt: skip
    for cell in table.cells:
        runs = [job.needs.plan.run for job in cell.jobs[0]]
        assert [run.training.epochs for run in runs] == [20, 50, 80, 100], "the paper's choice"
        assert {(run.method.encoder_lr, run.method.reg_lambda) for run in runs} == {(0.001, 5.0)}
    assert len(table.jobs) == 4 + 2 * 4, "both modes share the pre-training of each trial"
    table.run(table.schedule())
    for mode in BOTH:
        record = table.outcomes()[mode, "adgcl-opt", "TOYS"].record
        assert record.config["tune"] == {"pretraining.training.epochs": [20, 50, 80, 100]}
        assert record.config["training"]["epochs"] == 2, "the epochs of the run that is scored are not those tuned"
        assert "started_from" not in record.config and not any("pre-trained by" in note for note in record.notes)
        assert any(note.startswith("pretraining.training.epochs chosen as") for note in record.notes)
        (row,) = record.runs
        cell = next(cell for cell in table.cells if cell.mode == mode)
        seeds = [job.result() for job in cell.jobs[0]]
        if mode == "as_published":
            best = max(evaluation.test for seed in seeds for evaluation in seed.evaluations)
            assert row["test"] == pytest.approx(100 * best) and len(row["candidates"]) == 4
        else:
            assert len(row["chosen"]) == 3, "one for each fold"


def test_graphcl_is_tuned_as_its_published_runs_were(made):
    assert [row.name for row in made(seeds=1).rows][-3:] == ["statistics", "adgcl-opt", "graphcl-opt"]
    assert row_title("graphcl-opt") == "GraphCL-OPT"
    for cell in made("graphcl-opt", seeds=1, pretraining=NARROW).cells:
        runs = [job.needs.plan.run for job in cell.jobs[0]]
        rates = [(rate, epochs) for rate in (0.0001, 0.001, 0.01) for epochs in (20, 100)]
        assert [(run.method.lr, run.training.epochs) for run in runs] == rates


def test_as_published_a_row_that_starts_from_a_checkpoint_shares_its_head_among_folds(made):
    table = made("no_pretrain", "ss_gcn_a", "adgcl", seeds=1)
    judged = {(cell.row.name, cell.mode): cell.jobs[0][0].outline for cell in table.cells}
    shared = {place for place, planned in judged.items() if planned.judging.shared_head}
    assert shared == {("adgcl", "as_published")}, "from scratch every fold has a network of its own"
    planned = judged["adgcl", "as_published"]
    assert settings_of(planned.run, planned.protocol) != _before(planned), "work of the other rule is other work"
    assert all(settings_of(p.run, p.protocol) == _before(p) for place, p in judged.items() if place not in shared)


def _before(planned: Plan) -> Any:
    """The settings as a version without `shared_head` kept them, read today."""
    tree = full_settings(planned.run, planned.protocol)
    del tree["protocol"]["shared_head"]
    return read_settings(tree, planned.protocol.name)


def test_options_that_a_table_would_pass_over_are_refused(made):
    for about, option in (({"encoders": {"adgcl": "zinc-gin"}}, "--encoder"), ({"corpus": "ZINC-250K"}, "--corpus")):
        with pytest.raises(ConfigError, match=f"table3 takes no {option}"):
            made("adgcl", **about)
        with pytest.raises(ConfigError, match=f"table1-tu takes no {option}"):
            made("adgcl", table=layout("table1-tu"), pretraining=(), **about)
    with pytest.raises(ConfigError, match="table1-tu takes no --pretrain-set"):
        made("adgcl", table=layout("table1-tu"))


def test_a_row_without_a_preset_is_a_gap(made):
    cells = made("nadgcl", seeds=1).cells
    assert {cell.gap.status for cell in cells} == {"failed"} and "few labels" in cells[0].gap.detail


def test_too_few_labels_say_which_share_works(made):
    table = made("no_pretrain", seeds=1, assignments=(*NARROW, "training.epochs=1", "num_folds=3", "label_rate=0.01"))
    table.run(table.schedule())
    gaps = {outcome.gap for outcome in table.outcomes().values()}
    assert {gap.status for gap in gaps} == {"not applicable"}
    assert all("the smallest share that works is" in gap.detail for gap in gaps)
