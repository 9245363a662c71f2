"""What a newcomer sees: hints that do no harm, warnings in the terminal, progress in a log."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from adgcl.cli import job_progress, progress
from adgcl.cli.screen import Screen
from adgcl.training import trackers
from adgcl.training.trackers import ProgressBar, StepReport
from tests.cli.conftest import SMALL

QUICK = ("--set", "num_folds=2", "--seeds", "1", "--epochs", "1", *SMALL)


def test_after_supervised_training_no_training_score_is_offered(run, molecules: Path) -> None:
    answer = run("pretrain", molecules, "--method", "supervised", "--label-column", "logp", "--out", "run", *SMALL)
    assert "adgcl evaluate run" not in answer.out
    assert "--method supervised" in answer.out and "--label-column logp" in answer.out
    judged = run("evaluate", "run", molecules, "--label-column", "logp", "--seeds", 1, "--set", "num_folds=2")
    assert judged.code == 0 and "this is not a test" in judged.err, "the warning is not in the JSON alone"


def test_a_later_seed_does_not_take_the_place_of_more(run, toys: Path) -> None:
    five = ("evaluate", toys, "--method", "random_init", "--set", "num_folds=2", *SMALL, "--mode", "as_published")
    assert run(*five, "--seeds", 3).code == 0
    before = {path.name: path.read_bytes() for path in Path("results").glob("*.json")}
    assert run(*five, "--seeds", 1).code == 0
    assert {path.name: path.read_bytes() for path in Path("results").glob("*.json")} == before


def test_label_columns_are_offered_by_name(run, molecules: Path) -> None:
    answer = run("evaluate", molecules, "--method", "random_init", *QUICK)
    assert answer.code == 1 and "It has: name, logp, note" in answer.err and "--label-column" in answer.err


def test_atoms_and_bonds_without_a_name_are_counted_wherever_molecules_are_read(run, tmp_path: Path) -> None:
    Path("odd.csv").write_text("smiles\nCCO\n*CC*\n[Pt](Cl)(Cl)(<-N)<-N\nc1ccccc1.Cl\n")
    trained = run("pretrain", "odd.csv", "--out", "odd", "--epochs", 1, *SMALL)
    atoms = "2 atoms that are no element (`*`) in 1 molecule, read as `other`"
    told = f"{atoms}; bonds of other kinds (such as dative) in 1 molecule"
    assert trained.code == 0 and told in trained.err
    embedded = run("embed", "odd", "odd.csv", "--out", "odd.csv.npy", "--json")
    answer = json.loads(embedded.out)
    assert told in embedded.err and answer["mixtures"] == 1
    kinds = ("other_atoms", "molecules_with_other_atoms", "molecules_with_other_bonds")
    assert [answer[kind] for kind in kinds] == [2, 1, 1] and answer["molecules_with_other_chirality"] == 0


def test_salts_are_counted_and_can_be_cut(run, tmp_path: Path) -> None:
    Path("salts.csv").write_text("smiles\nCCO\n[Na+].CC(=O)[O-]\nc1ccccc1\nCCN.Cl\n")
    whole = run("pretrain", "salts.csv", "--out", "whole", "--epochs", 1, *SMALL)
    assert "Salts or mixtures in 2 of 4 rows" in whole.err and "--keep-largest-fragment" in whole.err
    cut = run("pretrain", "salts.csv", "--out", "cut", "--epochs", 1, "--keep-largest-fragment", *SMALL)
    assert "the largest fragment of each was kept" in cut.err and "--keep-largest-fragment --out" in cut.out


def test_unreadable_rows_are_announced_before_training(
    run, molecules: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from adgcl.training.trainer import Trainer

    def fails(self, *arguments, **named):
        raise RuntimeError("training began")

    monkeypatch.setattr(Trainer, "fit", fails)
    answer = run("pretrain", molecules, "--out", "run", *SMALL)
    assert answer.err.index("3 of 16 rows cannot be read") < answer.err.index("training began")


def test_a_bad_plug_in_is_named_and_the_list_still_made(run, monkeypatch: pytest.MonkeyPatch) -> None:
    from adgcl.methods.base import METHODS

    list(METHODS)
    monkeypatch.setattr(METHODS, "broken", {"adgcl.methods.mine": "NameError: name 'Field' is not defined"})
    answer = run("methods")
    assert answer.code == 0 and "adgcl.methods.mine cannot be imported" in answer.err and "AD-GCL" in answer.out
    assert json.loads(run("methods", "--json").out)["broken"]


def report(step: int) -> StepReport:
    return StepReport(1 + step // 10, 5, step % 10, 10, 32, {"loss": 1.0})


class Clock:
    """A clock that moves when it is told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


def test_a_log_gets_a_line_every_half_minute_with_the_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, lines = Clock(), []
    monkeypatch.setattr(trackers, "time", clock)
    bar = ProgressBar("pretrain", enabled=False, say=lines.append)
    bar.start(5, 10, 0)
    for step in range(1, 50):
        clock.now += 10
        bar.step(report(step))
    assert len(lines) == 16 and "epoch 1/5" in lines[0] and "about 8 min left" in lines[0]


def test_reading_and_judging_get_lines_too(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    with progress.Bars(Screen()) as bars:
        for done in range(0, 1001, 100):
            bars("read big.csv", done, 1000)
            clock.now += 10
    lines = capfd.readouterr().err.splitlines()
    assert lines == [
        "read big.csv: 300 of 1,000, about 1 min 10 s left",
        "read big.csv: 600 of 1,000, about 40.0 s left",
        "read big.csv: 900 of 1,000, about 10.0 s left",
    ]


def test_jobs_get_lines_too(run, toys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_progress, "_BETWEEN_LINES", 0.0)
    answer = run("evaluate", toys, "--jobs", 1, *QUICK)
    assert "seed 0: epoch 1 of 1" in answer.err and "[1/1]" in answer.err
