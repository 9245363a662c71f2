"""`adgcl reproduce`: killed and called again, two at once, and tables that say everything."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from adgcl.cli.lists import spread
from tests.cli.conftest import SMALL

posix = pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
QUICK = (*SMALL, "--set", "num_folds=2", "--set", "evaluate_every=1", "--set", "training.epochs=2")


def start(*arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "adgcl", "reproduce", "table1-tu", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)


def wait_for(process: subprocess.Popen[str], ready: Callable[[], bool]) -> None:
    limit = time.monotonic() + 120
    while not ready():
        assert process.poll() is None and time.monotonic() < limit, process.communicate()
        time.sleep(0.02)


def results() -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in Path("runs").rglob("result.json")}


def started(err: str) -> list[str]:
    """The jobs that a command finished itself, from its log."""
    return [line.partition("] ")[2].partition(": ")[0] for line in err.splitlines() if "finished in" in line]


@posix
def test_killed_in_the_middle_it_goes_on_without_repeating(toys: Path) -> None:
    arguments = ("--datasets", toys, "--methods", "random_init", "adgcl", "--seeds", 2, "--jobs", 1, *QUICK)
    process = start(*arguments)
    wait_for(process, lambda: len(results()) >= 1)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    time.sleep(0.3)  # the workers notice that their parent is gone
    before = results()
    again = start(*arguments)
    out, err = again.communicate(timeout=300)
    assert again.returncode == 0, err
    after = results()
    assert len(after) == 4 and {path: after[path] for path in before} == before
    assert len(started(err)) == 4 - len(before)
    assert "AD-GCL-FIX" in out and len(list(Path("results").glob("*.json"))) == 2


@posix
def test_two_at_once_share_the_work(toys: Path) -> None:
    arguments = ("--datasets", toys, "--methods", "random_init", "adgcl", "--seeds", 3, "--jobs", 1, *QUICK)
    both = [start(*arguments) for _ in range(2)]
    logs = [process.communicate(timeout=300) for process in both]
    assert [process.returncode for process in both] == [0, 0], logs
    done = [job for _, err in logs for job in started(err)]
    assert len(done) == len(set(done)) == len(results()) == 6, "no job is done twice"
    assert logs[0][0].split("Kept as")[0] == logs[1][0].split("Kept as")[0], "both print the whole table"
    for path in Path("results").glob("*.json"):
        assert json.loads(path.read_text())["seeds"] == [0, 1, 2]


@posix
def test_ctrl_c_keeps_what_is_done(toys: Path) -> None:
    process = start(
        "--datasets", toys, "--methods", "adgcl", "--seeds", 1, "--jobs", 1, *QUICK[:-1], "training.epochs=100000"
    )
    wait_for(process, lambda: any(Path("runs").rglob("metrics.jsonl")))
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=90)
    assert process.returncode == 130 and "Run the same command again to resume" in err and "Traceback" not in err
    assert any(Path("runs").rglob("checkpoint.safetensors"))


def test_a_table_with_reasons_as_json_and_files(run, toys: Path) -> None:
    answer = run(
        "reproduce",
        "table1-tu",
        "--datasets",
        toys,
        "MUTAG",
        "--methods",
        "random_init",
        "ecfp",
        "--seeds",
        1,
        "--data-dir",
        "none",
        *QUICK,
        "--json",
    )
    tree = json.loads(answer.out)
    cells = {(c["method"], c["dataset"]): c for c in tree["cells"]}
    assert cells["random_init", "TOYS"]["status"] == "complete" and cells["random_init", "TOYS"]["seeds"] == 1
    assert (
        cells["random_init", "MUTAG"]["status"] == "no data"
        and "data prepare" in cells["random_init", "MUTAG"]["reason"]
    )
    assert cells["ecfp", "TOYS"]["status"] == "not applicable"
    assert {Path(f).suffix for f in tree["files"]} == {".txt", ".md", ".tex", ".csv", ".html"}
    assert len(list(csv.DictReader(Path("results/table1-tu-as_published.csv").read_text().splitlines()))) == 4


def test_out_of_time_and_list(run, toys: Path) -> None:
    arguments = ("reproduce", "table1-tu", "--datasets", toys, "--methods", "adgcl", "--seeds", 2, *QUICK)
    answer = run(*arguments, "--max-hours", 0, "--formats", "txt", "csv")
    assert answer.code == 0 and "out of time" in answer.out and "2 of 2 jobs are not finished" in answer.out
    assert {p.suffix for p in Path("results").iterdir()} == {".txt", ".csv"}
    tree = json.loads(run(*arguments, "--list", "--json").out)
    assert tree["jobs"][0]["finished"] == 0 and tree["jobs"][0]["jobs"] == 2 and tree["estimated_hours"] >= 0
    assert not results()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("table9",), "There is no table called 'table9'"),
        (("table1-tu", "--methods", "adgkl"), "Did you mean"),
        (("table1-tu", "--mode", "fast"), "as_published, strict, both"),
        (("table1-tu", "--probe", "svm"), "linear probe"),
        (("table1-tu", "--formats", "docx"), "docx"),
        (("table1-tu", "--datasets", "NOWHERE"), "NOWHERE"),
    ],
)
def test_wrong_names_are_said_at_once(run, arguments: tuple[str, ...], words: str) -> None:
    answer = run("reproduce", *arguments, "--data-dir", "none")
    assert answer.code == 1 and words in answer.err


def test_lists_end_at_the_next_option() -> None:
    options, stop = frozenset({"--datasets", "--methods"}), frozenset({"table1-tu"})
    words = ["--datasets", "A", "B", "table1-tu", "--methods", "x,y", "--seeds", "2", "--datasets=C,D"]
    pairs = (("--datasets", "A"), ("--datasets", "B"), ("table1-tu",), ("--methods", "x"), ("--methods", "y"))
    rest = (("--seeds", "2"), ("--datasets", "C"), ("--datasets", "D"))
    assert spread(words, options, stop) == [word for pair in (*pairs, *rest) for word in pair]
