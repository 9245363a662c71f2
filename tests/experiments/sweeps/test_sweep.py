"""Sweeps: refused as a whole, resumed without repetition, gaps with their reason, and tables that grow."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from adgcl.core.errors import ConfigError, OutputError, UnknownNameError
from adgcl.experiments.sweeps.arms import Arm, SweepPreset, own_sweep, sweep_preset, sweep_presets
from adgcl.experiments.sweeps.collecting import collect
from adgcl.experiments.sweeps.sweep import Sweep, SweepRequest, open_sweep
from adgcl.experiments.sweeps.tables import check_epochs, check_folder, commands_of, keep, read_table
from adgcl.training.run_folder import RunFolder
from tests.experiments.conftest import SMALL


@pytest.fixture
def make(toys: Path, tmp_path: Path):
    """`make("reg_lambda=0.1,5", seeds=2)`: a sweep of AD-GCL on the small graphs."""

    def opened(*grids: str, rows: Sequence[str] = (), preset: SweepPreset | None = None, **changes: Any) -> Sweep:
        wanted: dict[str, Any] = {
            "datasets": (str(toys),), "seeds": 1, "jobs": 1, "executor": "inline", "assignments": SMALL,
            "work": tmp_path / "runs", "out": tmp_path / "sweep", "mode": "strict", "command": "adgcl sweep",
        }  # fmt: skip
        return open_sweep(SweepRequest(preset or own_sweep(rows, grids), **{**wanted, **changes}))

    return opened


def run(sweep: Sweep) -> dict[str, list[dict[str, Any]]]:
    sweep.run(sweep.schedule())
    return keep(sweep.request, collect(sweep))[0]


def test_every_trial_is_kept_with_its_course_and_scores(make, tmp_path):
    sweep = make("reg_lambda=0.1,5", "gate.temperature=0.5,1", seeds=2)
    tables = run(sweep)
    trials = tables["trials"]
    grid = {(row["method.reg_lambda"], row["method.gate.temperature"], row["seed"]) for row in trials}
    assert grid == {(a, b, c) for a in (0.1, 5) for b in (0.5, 1) for c in (0, 1)}
    for trial, row in zip(sweep.trials, collect(sweep)["trials"]):
        assert trial.job.plan.run.method.gate.temperature == row["method.gate.temperature"]
        result = trial.job.result()
        assert row["valid"] == pytest.approx(100 * result.selected("linear", "strict", True).valid, abs=1e-3)
        assert row["drop_ratio_at_end"] == pytest.approx(result.training["drop_ratio"], abs=1e-5)
    one = [row for row in tables["courses"] if row["seed"] == 1 and row["method.reg_lambda"] == 5]
    metrics = RunFolder(next(t.job for t in sweep.trials if t.seed == 1 and t.values["method.reg_lambda"] == 5).folder)
    assert [row["epoch"] for row in one] == [1, 2, 1, 2] and {"valid", "test", "loss"} <= one[0].keys()
    assert one[0]["loss"] == pytest.approx(metrics.read_metrics()[0]["loss"], abs=1e-5)


def test_a_second_command_repeats_nothing_and_adds_to_the_tables(make, tmp_path):
    run(make("reg_lambda=0.1,5"))
    times = {path: path.stat().st_mtime_ns for path in (tmp_path / "runs").rglob("result.json")}
    run(make("reg_lambda=0.1,5", seeds=2))
    after = {path: path.stat().st_mtime_ns for path in (tmp_path / "runs").rglob("result.json")}
    assert len(times) == 2 and len(after) == 4 and {path: after[path] for path in times} == times
    rows = read_table(tmp_path / "sweep", "trials")
    assert sorted((row["method.reg_lambda"], row["seed"]) for row in rows) == [(0.1, 0), (0.1, 1), (5, 0), (5, 1)]
    with (tmp_path / "sweep" / "trials.csv").open(encoding="utf-8") as file:
        written = list(csv.DictReader(file))
    binary = pq.read_table(tmp_path / "sweep" / "trials.parquet")
    assert [float(row["valid"]) for row in written] == binary["valid"].to_pylist()
    # Fewer seeds forget none of those that are there.
    assert len(run(make("reg_lambda=0.1,5", command="adgcl sweep again"))["trials"]) == 4
    assert commands_of(tmp_path / "sweep") == ["adgcl sweep", "adgcl sweep again"]


@pytest.mark.parametrize("wrong", ["reg_lambda=1,-1", "gate.temperature=1,0", "batch_size=4,-2"])
def test_a_value_out_of_range_refuses_the_whole_sweep(make, tmp_path, wrong):
    with pytest.raises(ConfigError, match="Nothing was run") as caught:
        make(wrong, seeds=3)
    assert wrong.partition("=")[0].rpartition(".")[2] in caught.value.message
    assert not list(tmp_path.rglob("seed-*"))


def test_a_setting_cannot_be_swept_and_set(make):
    for name in ("training.epochs", "epochs"):
        with pytest.raises(ConfigError, match="is swept, and also set"):
            make("training.epochs=1,2", assignments=(f"{name}=3",))


def test_grids_that_cannot_be_read(make):
    for wrong, words in (("reg_lambda", "Cannot read"), ("reg_lambda=", "Cannot read"), ("lamda=1", "no setting"),
                         ("reg_lambda=1,1", "twice"), ("reg_lambda=5,5.0", "twice"),
                         ("method.name=adgcl,nadgcl", "cannot be swept"), ("seed=1,2", "cannot be swept")):  # fmt: skip
        with pytest.raises(ConfigError, match=words):
            make(wrong)
    with pytest.raises(ConfigError, match="nothing to sweep"):
        make()
    with pytest.raises(UnknownNameError):
        make("reg_lambda=1", rows=("adgkl",))
    with pytest.raises(UnknownNameError):
        sweep_preset("figure9")
    with pytest.raises(ConfigError, match="needs data"):
        make("reg_lambda=1", datasets=())


def test_a_trial_that_fails_leaves_a_gap_with_its_reason(make, monkeypatch):
    from adgcl.methods.adgcl import ADGCL

    step = ADGCL.step
    monkeypatch.setattr(ADGCL, "step", lambda self, *a: step(self, *a) if self.config.reg_lambda < 5 else 1 / 0)
    rows = {row["method.reg_lambda"]: row for row in run(make("reg_lambda=0.1,5"))["trials"]}
    assert rows[0.1]["status"] == "finished"
    assert rows[5]["status"] == "failed" and "ZeroDivisionError" in rows[5]["detail"]
    monkeypatch.undo()
    # Once it works, the gap is gone.
    rows = {row["method.reg_lambda"]: row for row in run(make("reg_lambda=0.1,5"))["trials"]}
    assert rows[5]["status"] == "finished"


def test_a_method_that_does_not_apply_is_a_gap_and_no_error(make):
    preset = SweepPreset("mine", arms=(Arm("prints", "ecfp"), Arm("sizes", "statistics")))
    rows = {row["arm"]: row for row in run(make(preset=preset))["trials"]}
    assert rows["prints"]["status"] == "not applicable" and "SMILES" in rows["prints"]["detail"]
    assert rows["sizes"]["status"] == "finished"


def test_a_folder_holds_one_sweep(make, toys):
    run(make("reg_lambda=0.1"))
    other = make("reg_lambda=0.3")
    with pytest.raises(OutputError, match="holds another sweep"):
        check_folder(other.request)
    longer = make("reg_lambda=0.1", epochs=3, assignments=tuple(a for a in SMALL if "epochs" not in a))
    with pytest.raises(OutputError):
        check_folder(longer.request)
    check_folder(make("reg_lambda=0.1", assignments=(*SMALL, "training.step=auto")).request)


def test_trials_of_another_length_are_not_laid_beside_others(make):
    brief = tuple(a for a in SMALL if "epochs" not in a)
    run(make("reg_lambda=0.1", assignments=brief, epochs=1))
    check_epochs(make("reg_lambda=0.1", assignments=brief, epochs=1, seeds=2))
    with pytest.raises(OutputError, match="with 1 epochs"):
        check_epochs(make("reg_lambda=0.1", assignments=brief, epochs=2))


@pytest.mark.parametrize("name", sorted(sweep_presets()))
def test_presets_can_be_planned_on_their_kind_of_data(make, name, data_dir):
    sweep = make(preset=sweep_preset(name), datasets=("MUTAG", "ogbg-molbace"), data_dir=data_dir, assignments=())
    bad = [trial for trial in sweep.trials if trial.job is None and trial.gap.status != "not applicable"]
    assert sweep.jobs and not bad
    if name == "figure3":
        lambdas = [t.values["method.reg_lambda"] for t in sweep.trials if t.arm.name == "AD-GCL"]
        assert lambdas[:7] == [0.1, 0.3, 0.5, 1.0, 2.0, 5.0, 10.0]
    if name == "figure2":
        runs = [t.job.plan.run for t in sweep.trials if t.job is not None]
        assert all(run.encoder.name == "gin" and run.encoder.hidden_dim == 32 for run in runs)
