"""`adgcl tune`: settings that `--config` reads, two processes at once and one killed, wrong words refused."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.conftest import SMALL, Run

posix = pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
QUICK = (*SMALL, "--set", "num_folds=2", "--set", "evaluate_every=1", "--epochs", "2", "--jobs", "1")


def journal(folder: Path) -> list[dict]:
    """How every trial stands, read with Optuna itself."""
    import optuna

    backend = optuna.storages.journal.JournalFileBackend(str(folder / "journal.log"))
    try:
        study = optuna.load_study(study_name="adgcl", storage=optuna.storages.JournalStorage(backend))
    except KeyError:
        return []
    return [{"number": t.number, "state": t.state.name, "params": t.params} for t in study.trials]


def test_the_whole_way(toys: Path, run: Run) -> None:
    words = ("tune", toys, *QUICK, "--trials", 5, "--seeds", 1, "--search", "reg_lambda", "--search", "readout")
    answer = run(*words, "--json")
    assert answer.code == 0, answer.err
    tree = json.loads(answer.out)
    assert [row["status"] for row in tree["trials"]].count("running") == 0 and len(tree["trials"]) == 5
    best = max((row for row in tree["trials"] if row["status"] == "finished"), key=lambda row: row["valid"])
    assert tree["best"]["trial"] == best["trial"]
    assert [record["method"] for record in tree["records"]] == ["adgcl-tuned", "adgcl-start"]
    names = {Path(path).name for path in tree["files"]}
    assert {"best.toml", "trials.csv", "README.md", "history.png", "history.svg"} <= names
    assert all(Path(path).exists() for path in tree["files"])
    out = Path("tune/TOYS-adgcl")
    page = (out / "README.md").read_text()
    assert "5 trials" in page and f"{tree['records'][0]['mean']:.2f}" in page and "took no part" in page
    assert run("pretrain", toys, "--config", out / "best.toml", "--out", "tuned").code == 0
    used = json.loads(Path("tuned/config.json").read_text())
    assert used["method"]["reg_lambda"] == tree["best"]["values"]["method.reg_lambda"]
    assert used["encoder"]["readout"] == tree["best"]["values"]["encoder.readout"]
    assert used["training"]["epochs"] == 2 and used["encoder"]["hidden_dim"] == 8
    again = run(*words)
    assert again.code == 0 and "5 trials: " in again.out and "Next: adgcl pretrain" in again.out
    assert "trial 4" not in again.err, "nothing is left to do"


def test_what_is_searched_is_listed(toys: Path, run: Run) -> None:
    answer = run("tune", toys, "--list", "--set", "temperature=0.3")
    assert answer.code == 0 and "method.reg_lambda" in answer.out and "0.1 to 10 (log)" in answer.out
    assert "drop_budget" not in answer.out, "it is off"
    budget = run("tune", toys, "--method", "adgcl-budget", "--list").out
    assert "method.drop_budget    0.5     0.1 to 0.9" in budget and "reg_lambda" not in budget, "it decides nothing"
    assert "temperature" not in answer.out and "No trial has begun" in answer.out and "5 of 24 graphs" in answer.out
    tree = json.loads(run("tune", toys, "--list", "--json").out)
    assert {"setting": "encoder.layers", "start": "last", "choices": ["last", "all"]} in tree["searched"]
    assert not Path("tune").exists(), "looking begins nothing"
    assert all(len(line) <= 80 for line in run("tune", "--help").out.splitlines())


@posix
def test_two_processes_at_once_and_one_of_them_killed(toys: Path) -> None:
    words = ["tune", str(toys), *QUICK, "--trials", "6", "--seeds", "1", "--search", "reg_lambda", "--pruner", "none"]
    command, out = [sys.executable, "-m", "adgcl", *words], Path("tune/TOYS-adgcl")
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    first, second = (subprocess.Popen(command, **pipes, text=True, start_new_session=True) for _ in range(2))
    limit = time.monotonic() + 120
    while not out.joinpath("journal.log").exists() or len(journal(out)) < 3:
        assert first.poll() is None and time.monotonic() < limit, first.communicate()
        time.sleep(0.02)
    os.kill(first.pid, signal.SIGKILL)
    first.communicate()
    _, err = second.communicate(timeout=240)
    assert second.returncode == 0, err
    trials = journal(out)
    assert [trial["number"] for trial in trials] == list(range(6))
    assert {trial["state"] for trial in trials} == {"COMPLETE"}
    assert len({json.dumps(trial["params"]) for trial in trials}) == 6, "nothing is tried twice"
    assert len(list(Path("runs").glob("TOYS-*/seed-0/result.json"))) == 6


def test_one_command_with_several_processes(toys: Path, run: Run) -> None:
    words = (*QUICK[:-1], 2, "--search", "reg_lambda", "--seeds", 0)
    answer = run("tune", toys, *words, "--trials", 4, "--json")
    assert answer.code == 0, answer.err
    trials = journal(Path("tune/TOYS-adgcl"))
    assert [trial["state"] for trial in trials] == ["COMPLETE"] * 4
    assert len({json.dumps(trial["params"]) for trial in trials}) == 4 and answer.err.count("] trial ") == 4


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--trials", "0"], "at least one trial"),
        (["--search", "reg_lamda"], "reg_lambda"),
        (["--search", "reg_lambda=9..1"], "Cannot read the range"),
        (["--pruner", "axe"], "median"),
        (["--method", "constant"], "nothing to search"),
        (["--set", "protocol.mode=as_published"], "strict mode"),
        (["--storage", "nosuch://host/db"], "cannot be used"),
        (["--storage", "postgresql://me:secret@localhost:1/db"], "cannot be used"),
        (["--tracker", "nobody"], "no tracker called 'nobody'"),
    ],
)
def test_wrong_words(toys: Path, run: Run, words: list[str], says: str) -> None:
    answer = run("tune", toys, *words)
    assert answer.code == 1 and says in answer.err and "secret" not in answer.err
    assert not Path("runs").exists()


def test_data_without_labels(run: Run, tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("smiles\n" + "\n".join("C" * n for n in range(1, 21)) + "\n")
    answer = run("tune", tmp_path / "m.csv", "--trials", 2)
    assert answer.code == 1 and "no labels" in answer.err and "--label-column" in answer.err


def test_own_molecules(run: Run, tmp_path: Path) -> None:
    rows = [f"{'C' * (n % 7 + 1)}{'ON'[n % 2]},{n % 2}" for n in range(80)]
    (tmp_path / "m.csv").write_text("smiles,active\n" + "\n".join(rows) + "\n")
    words = ("--label-column", "active", "--split", "random", "--seeds", 0, "--search", "encoder_lr", "--json")
    answer = run("tune", tmp_path / "m.csv", "--trials", 2, *QUICK[:4], "--epochs", 1, "--jobs", 1, *words)
    assert answer.code == 0, answer.err
    tree = json.loads(answer.out)
    assert len(tree["trials"]) == 2 and tree["records"] == [] and Path("tune/m-adgcl/best.toml").exists()


def test_optuna_is_an_extra(toys: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    answer = run("tune", toys)
    assert answer.code == 1 and 'pip install "adgcl[tune]"' in answer.err


def test_a_small_space_ends_early(toys: Path, run: Run) -> None:
    words = ("--method", "statistics", "--search", "iterations=1,2", "--seeds", 0, "--jobs", 1)
    answer = run("tune", toys, *words, "--trials", 9)
    assert answer.code == 0 and "2 trials: 2 finished" in answer.out and "all have been tried" in answer.out
    assert "[2/2] trial" in answer.err


def test_another_search_in_the_same_folder(toys: Path, run: Run) -> None:
    assert run("tune", toys, *QUICK, "--trials", 1, "--seeds", 0, "--search", "reg_lambda").code == 0
    answer = run("tune", toys, *QUICK, "--trials", 2, "--search", "encoder_lr")
    assert answer.code == 1 and "holds another search" in answer.err and "ranges" in answer.err
