"""Slurm: what is asked of it, and what is said when it is not there, refuses, or loses a worker."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from adgcl.core.errors import AdgclError, DataError
from adgcl.core.extras import MissingExtraError
from adgcl.jobs import home
from adgcl.jobs.executor import Done, End, Failed, Lost, Stopped
from adgcl.jobs.home import WorkerError
from adgcl.jobs.placement import Placement
from adgcl.jobs.slurm import Slurm, SlurmConfig
from tests.core.test_extras import _Absent
from tests.jobs.test_processes import work

pytest.importorskip("submitit")


@pytest.fixture
def local(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Slurm]:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))
    with Slurm(3, SlurmConfig(cluster="local", time=5, grace=10), tmp_path) as made:
        yield made
        made.stop()


def ends_of(executor: Slurm, count: int) -> dict[Any, End]:
    ends: dict[Any, End] = {}
    limit = time.monotonic() + 60
    while len(ends) < count:
        assert time.monotonic() < limit
        ends.update(executor.ends(0.2))
    return ends


def test_workers_end_in_several_ways_and_say_what_they_have_to_say(local: Slurm) -> None:
    heard: list[Any] = []
    local.on_message = lambda number, message: heard.append((number, message))
    for number, task in enumerate(("fine", "wrong data", "killed")):
        local.start(number, work, task, 3)
    assert local.free == 0
    ends = ends_of(local, 3)
    failed, lost = ends[1], ends[2]
    assert ends[0] == Done(9) and heard == [(0, "fine")] and local.free == 3
    assert isinstance(failed, Failed) and isinstance(failed.error, DataError) and failed.error.hint == "try others"
    assert isinstance(lost, Lost) and "has vanished" in str(lost.error) and "log" in str(lost.error)


def test_a_worker_that_is_told_to_stop_does_not_come_back(local: Slurm) -> None:
    heard: list[Any] = []
    local.on_message = lambda number, message: heard.append(message)
    local.start(0, _until_told)
    while not heard:
        list(local.ends(0.1))
    local.stop()
    assert ends_of(local, 1) == {0: Stopped()}


def _until_told(send: Any) -> None:
    from adgcl.core.errors import Interrupted
    from adgcl.jobs.notices import heeding_notices

    with heeding_notices() as noticed:
        send("begun")
        while not noticed():
            time.sleep(0.05)
    raise Interrupted("Saved.")


def test_another_version_on_a_worker_is_refused(local: Slurm, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(home, "this_version", lambda: "99.0")
    local.start(0, work, "fine", 1)
    with pytest.raises(WorkerError, match=r"has adgcl .*, but this command is adgcl 99\.0"):
        ends_of(local, 1)


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of programs that stand for Slurm's."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def _program(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o755)


def test_one_array_is_asked_for_with_what_the_user_wants(programs: Path, tmp_path: Path) -> None:
    _program(programs, "srun", "")
    _program(programs, "sbatch", f'/bin/cp "$1" {tmp_path}/submitted; echo Submitted batch job 41')
    _program(programs, "squeue", 'echo "41_0\n41_1"')
    wanted = ("time=90", "partition=cpu", "cpus=4", "memory_gb=2.5", "gpus=1", "sbatch.constraint=avx2", "grace=77")
    executor = Placement("slurm", 7, wanted).open(100, tmp_path / "runs")
    assert isinstance(executor, Slurm) and executor.size == 2 and executor.at_once == 4
    executor.start(0, work, "fine", 1)
    executor.start(1, work, "fine", 1)
    assert list(executor.ends(0.0)) == [] and str(executor) == "Slurm array 41" and executor.cancelling == "scancel 41"
    asked = (tmp_path / "submitted").read_text()
    for option in ("array=0-1%2", "time=90", "partition=cpu", "cpus-per-task=4", "mem=2560M", "gpus-per-node=1",
                   "constraint=avx2", "signal=USR2@77", "requeue"):  # fmt: skip
        assert f"#SBATCH --{option}\n" in asked
    again = Placement("slurm", 7, wanted).open(100, tmp_path / "runs")
    assert isinstance(again, Slurm) and again.follow("unnamed") == [0, 1]
    _program(programs, "squeue", 'echo "slurm_load_jobs error: Invalid job id specified" >&2; exit 1')
    assert again.follow("unnamed") == [], "Slurm has forgotten them"


def test_slurm_that_refuses_is_quoted(programs: Path, tmp_path: Path) -> None:
    executor = Slurm(1, SlurmConfig(partition="gold"), tmp_path)
    executor.start(0, work, "fine", 1)
    with pytest.raises(AdgclError, match="has no Slurm: there is no command sbatch") as caught:
        list(executor.ends(0.0))
    assert "cluster=local" in str(caught.value.hint)
    _program(programs, "srun", "")
    _program(programs, "sbatch", 'echo "sbatch: error: invalid partition specified: gold" >&2; exit 1')
    with pytest.raises(AdgclError, match="cannot be submitted: invalid partition specified: gold"):
        list(executor.ends(0.0))


def test_submitit_is_not_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "submitit"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [_Absent("submitit"), *sys.meta_path])
    with pytest.raises(MissingExtraError, match="--executor slurm needs the package submitit") as caught:
        Placement("slurm").open(1, tmp_path)
    assert caught.value.hint == 'Run `pip install "adgcl[slurm]"`.'


def test_slurm_in_trouble_loses_nobody(programs: Path, tmp_path: Path) -> None:
    _program(programs, "squeue", 'echo "Unable to contact slurm controller" >&2; exit 1')
    cluster = Slurm(1, SlurmConfig(), tmp_path)._cluster
    assert cluster.alive(["41_0"]) == {"41_0"}
