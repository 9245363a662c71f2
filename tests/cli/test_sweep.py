"""`adgcl sweep`: figures, tables and JSON; killed and called again; wrong words refused before anything runs."""

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
QUICK = (*SMALL, "--set", "num_folds=2", "--set", "evaluate_every=1", "--epochs", "2", "--seeds", "1", "--jobs", "1")


def test_figure_3_of_small_graphs(toys: Path, run: Run) -> None:
    answer = run("sweep", "--preset", "figure3", "--datasets", toys, *QUICK, "--executor", "inline", "--json")
    assert answer.code == 0, answer.err
    tree = json.loads(answer.out)
    assert len(tree["trials"]) == 17 and {row["status"] for row in tree["trials"]} == {"finished"}
    names = {Path(path).name for path in tree["files"]}
    assert {"figure3a.png", "figure3b.svg", "figure3c.png", "trials.csv", "courses.parquet", "README.md"} <= names
    assert all(Path(path).exists() for path in tree["files"])
    assert any(finding["claim"] == "The drop ratio falls with λ." for finding in tree["findings"])
    again = run("sweep", "--preset", "figure3", "--datasets", toys, *QUICK, "--list")
    assert again.code == 0 and "17" not in again.out.split("left")[-1]


def test_a_grid_of_ones_own(toys: Path, run: Run) -> None:
    arguments = ("--grid", "reg_lambda=0.1,5", "--methods", "adgcl", "--datasets", toys, *QUICK, "--executor", "inline")
    answer = run("sweep", *arguments, "--formats", "svg")
    assert answer.code == 0, answer.err
    assert "reg_lambda=0.1" in answer.out and "Kept in results/sweeps/sweep" in answer.out
    assert Path("results/sweeps/sweep/score.svg").exists() and not list(Path("results").rglob("*.png"))
    assert all(len(line) <= 80 for line in run("sweep", "--help").out.splitlines())


def test_a_grid_of_epochs_can_be_continued(toys: Path, run: Run) -> None:
    words = [word for word in QUICK if word != "--epochs" and word != "2"] + ["--executor", "inline"]
    for grid in ("training.epochs=1,2", "training.epochs=1,2"):
        answer = run("sweep", "--grid", grid, "--datasets", toys, *words, "--json")
        assert answer.code == 0, answer.err
        assert sorted(row["training.epochs"] for row in json.loads(answer.out)["trials"]) == [1, 2]


def test_true_labels_need_no_quotes(toys: Path, run: Run) -> None:
    answer = run("sweep", "--methods", "infomax", "--grid", "labels=true,random", "--datasets", toys, *QUICK, "--list")
    assert answer.code == 0 and "infomax" in answer.out, answer.err


@posix
def test_killed_in_the_middle_it_goes_on_without_repeating(toys: Path) -> None:
    words = ["sweep", "--grid", "reg_lambda=0.1,1,5", "--datasets", str(toys), *QUICK]
    command = [sys.executable, "-m", "adgcl", *words]

    def results() -> dict[Path, int]:
        return {path: path.stat().st_mtime_ns for path in Path("runs").rglob("result.json")}

    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen(command, **pipes, text=True, start_new_session=True)
    limit = time.monotonic() + 120
    while not results():
        assert process.poll() is None and time.monotonic() < limit, process.communicate()
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    time.sleep(0.3)  # the workers notice that their parent is gone
    before = results()
    again = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert again.returncode == 0, again.stderr
    after = results()
    assert len(after) == 3 and {path: after[path] for path in before} == before
    assert again.stderr.count("finished in") == 3 - len(before)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--preset", "figure9"], "figure9"),
        (["--preset", "figure3", "--grid", "reg_lambda=1"], "grids of its own"),
        (["--grid", "reg_lambda=1,-5"], "Nothing was run"),
        (["--grid", "reg_lamda=1"], "reg_lambda"),
        (["--grid", "reg_lambda=1", "--formats", "gif"], "gif"),
        (["--grid", "reg_lambda=1", "--mode", "loose"], "loose"),
        ([], "nothing to sweep"),
    ],
)
def test_wrong_words(toys: Path, run: Run, words: list[str], says: str) -> None:
    answer = run("sweep", *words, "--datasets", toys)
    assert answer.code == 1 and says in answer.err
    assert not Path("runs").exists() and not Path("results").exists()
