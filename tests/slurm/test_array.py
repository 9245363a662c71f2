"""An array of workers whose time ends in the middle: requeued, finished, and nothing is done twice.

On submitit's local executor, and on a real Slurm of one node where one can be started.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from adgcl.experiments.crew import Crew, make_schedule
from adgcl.experiments.planning import Request
from adgcl.experiments.schedule import Event
from adgcl.experiments.source import LoadedSource, Source
from adgcl.jobs.placement import Placement
from adgcl.jobs.post import Inbox
from tests.cli.conftest import SMALL, write_tu
from tests.slurm.cluster import NoSlurm, slurm
from tests.slurm.naps import Naps
from tests.slurm.sleeping import taken

pytest.importorskip("submitit")
PATIENCE = 150.0  # seconds


@pytest.fixture(scope="module")
def real_slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    try:
        with slurm(tmp_path_factory.mktemp("slurm")) as environment:
            yield environment
    except NoSlurm as reason:
        pytest.skip(f"No Slurm here: {reason}.")


@pytest.fixture(autouse=True)
def own_folders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ADGCL_CACHE", str(tmp_path / "packed"))
    # Workers must find what these tests define.
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))


@pytest.fixture
def reach(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """`reach("slurm")`: have commands find the cluster of this name; a test is skipped where it cannot be started."""

    def reached(cluster: str) -> str:
        for name, text in (request.getfixturevalue("real_slurm") if cluster == "slurm" else {}).items():
            monkeypatch.setenv(name, text)
        return cluster

    return reached


@pytest.fixture(params=["local", "slurm"])
def cluster(request: pytest.FixtureRequest, reach: Callable[[str], str]) -> str:
    return reach(request.param)


@pytest.fixture
def best_cluster(reach: Callable[[str], str]) -> str:
    """A real Slurm if there is one."""
    try:
        return reach("slurm")
    except pytest.skip.Exception:
        return reach("local")


def tasks(runs: Path) -> list[str]:
    """The names of workers that are noted in the shared folder."""
    return [task for noted in (runs / ".slurm").rglob("array.json") for task in json.loads(noted.read_text()).values()]


def finished(runs: Path) -> Counter[int]:
    """How often workers say that they finished each job."""
    (place,) = (runs / ".slurm").iterdir()
    told = [report for number in range(len(tasks(runs))) for report in Inbox(place, number).take()]
    return Counter(report.job for report in told if report.kind == "finished")


def lives(runs: Path) -> int:
    """How often workers began."""
    logs = (runs / ".slurm").rglob("*_log.out")
    return sum(log.read_text().count("Starting with JobEnvironment") for log in logs)


def wait_for(ready: Callable[[], bool]) -> None:
    limit = time.monotonic() + PATIENCE
    while not ready():
        assert time.monotonic() < limit
        time.sleep(0.05)


def test_a_time_limit_that_ends_in_the_middle(cluster: str, tmp_path: Path) -> None:
    """Meanwhile the user leaves with Ctrl-C and comes back."""
    data = LoadedSource.of(Source(str(write_tu(tmp_path / "TOYS"))))
    runs = tmp_path / "runs"
    jobs = [Naps(Request("random_init"), data, seed, runs) for seed in range(2)]
    # Slurm counts in minutes: there the limit comes nearer while the workers run.
    limit = (f"time={(_life() + 20) / 60}", "grace=20") if cluster == "local" else ("time=60", "grace=40")
    placement = Placement("slurm", settings=(f"cluster={cluster}", "array=2", *limit))
    events: list[Event] = []

    def leave(event: Event) -> None:
        if event.kind == "started":
            raise KeyboardInterrupt

    first = make_schedule(jobs, placement.open(2, runs), on_event=leave)
    assert isinstance(first, Crew)
    with pytest.raises(KeyboardInterrupt):
        first.run()
    words = str(first.interruption("Kept."))
    assert "works on without this command" in words and "same command again" in words
    assert {"slurm": "scancel ", "local": "kill "}[cluster] in words
    if cluster == "slurm":
        threading.Thread(target=_shorten, args=(jobs,), daemon=True).start()
    second = make_schedule(jobs, placement.open(2, runs), on_event=events.append)
    second.run()
    assert second.gaps == {} and all(job.result() is not None for job in jobs)
    kinds = Counter((event.kind, event.job.seed) for event in events)
    assert (kinds["finished", 0], kinds["finished", 1]) == (1, 1)
    assert any("an earlier command" in str(event.content) for event in events) and len(tasks(runs)) == 2
    assert finished(runs) == {0: 1, 1: 1} and lives(runs) >= 4, "both workers were requeued"
    for job in jobs:
        assert taken(job.folder) == list(range(len(taken(job.folder)))), "every nap once, in order"


def _life() -> float:
    """Seconds in which two workers surely begin, as busy as this machine is."""
    began = time.monotonic()
    subprocess.run([sys.executable, "-c", "import adgcl.experiments.crew"], check=True)
    return 30 + 4 * (time.monotonic() - began)


def _shorten(jobs: list[Naps]) -> None:
    """Let Slurm find that the time of both workers is almost up, and give them time again when they come back."""
    wait_for(lambda: all(len(taken(job.folder)) > 5 for job in jobs))
    (runs,) = {job.work for job in jobs}
    for minutes in (1, 60):
        for task in tasks(runs):
            subprocess.run(["scontrol", "update", f"JobId={task}", f"TimeLimit={minutes}"], check=True)
        wait_for(lambda: lives(runs) >= 4)


def reproduce(folder: Path, *more: str) -> subprocess.Popen[str]:
    quick = ("--set", "num_folds=2", "--set", "evaluate_every=1000", "--set", "training.epochs=200", *SMALL)
    words = ("reproduce", "table1-tu", "--datasets", "TOYS", "--methods", "adgcl", "random_init", "--seeds", "2",
             *quick, "--work", f"{folder}/runs", "--out", f"{folder}/results", *more)  # fmt: skip
    command = [sys.executable, "-m", "adgcl", *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)


def values(folder: Path) -> dict[str, list[float]]:
    records = [json.loads(path.read_text()) for path in (folder / "results").glob("*.json")]
    return {record["method"]: record["values"] for record in records}


def test_a_table_has_the_values_of_processes_though_workers_are_interrupted(best_cluster: str, tmp_path: Path) -> None:
    write_tu(tmp_path / "TOYS")
    cluster = best_cluster
    options = ("--executor", "slurm", "--executor-set", f"cluster={cluster}", "--executor-set", "array=2")
    command, runs = reproduce(tmp_path / "array", *options), tmp_path / "array" / "runs"
    wait_for(lambda: any(runs.rglob("result.json")) or command.poll() is not None)
    _want_back(cluster, runs)
    out, err = command.communicate(timeout=PATIENCE)
    assert command.returncode == 0 and "AD-GCL-FIX" in out, err
    assert finished(runs) == dict.fromkeys(range(4), 1) and lives(runs) > 2, "workers were requeued"
    plain = reproduce(tmp_path / "plain")
    assert plain.wait(PATIENCE) == 0 and len(values(tmp_path / "plain")) == 2
    assert values(tmp_path / "array") == values(tmp_path / "plain")


def _want_back(cluster: str, runs: Path) -> None:
    """Tell the workers what a batch system tells them before their time is up."""
    if cluster == "slurm":
        subprocess.run(["scancel", "--signal=USR2", *tasks(runs)], check=True)
    else:
        for task in tasks(runs):
            os.kill(int(task), signal.SIGTERM)
