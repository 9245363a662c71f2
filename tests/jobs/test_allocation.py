"""How long the batch system lets a process run, by all the ways in which it says so."""

from __future__ import annotations

import datetime
import os
import time
from pathlib import Path

import pytest

from adgcl.jobs.allocation import allocation_seconds_left, is_cancelled

_VARIABLES = ("SLURM_JOB_ID", "SLURM_JOB_END_TIME", "SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID",
              "SUBMITIT_LOCAL_TIMEOUT_S")  # fmt: skip


@pytest.fixture(autouse=True)
def nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in _VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def scontrol(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """`scontrol("EndTime=...")`: a Slurm that says this about job 7_1, and only about it."""

    def make(about: str) -> None:
        program = tmp_path / "scontrol"
        program.write_text(f'#!/bin/sh\n[ "$3" = 7_1 ] && echo "JobId=8 {about} Partition=x"\n')
        program.chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
        for name, text in (("SLURM_JOB_ID", "8"), ("SLURM_ARRAY_JOB_ID", "7"), ("SLURM_ARRAY_TASK_ID", "1")):
            monkeypatch.setenv(name, text)

    return make


def test_outside_of_a_batch_system_there_is_no_limit() -> None:
    assert allocation_seconds_left() is None and not is_cancelled()


def test_slurm_says_it_in_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURM_JOB_ID", "8")
    monkeypatch.setenv("SLURM_JOB_END_TIME", str(int(time.time()) + 90))
    assert allocation_seconds_left() == pytest.approx(90, abs=3)


def test_an_older_slurm_is_asked(scontrol) -> None:
    end = datetime.datetime.now() + datetime.timedelta(seconds=600)
    scontrol(f"JobState=RUNNING EligibleTime=2020-01-01T00:00:00 EndTime={end.isoformat(timespec='seconds')}")
    assert allocation_seconds_left() == pytest.approx(600, abs=3) and not is_cancelled()


@pytest.mark.parametrize("about", ["EndTime=Unknown", "TimeLimit=UNLIMITED", ""])
def test_no_limit_is_no_limit(scontrol, about: str) -> None:
    scontrol(about)
    assert allocation_seconds_left() is None


def test_a_user_who_cancels_does_not_want_it_back(scontrol) -> None:
    scontrol("JobState=CANCELLED Reason=None")
    assert is_cancelled()


def test_submitit_on_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUBMITIT_LOCAL_TIMEOUT_S", "100000")
    left = allocation_seconds_left()
    assert left is not None and 0 < left <= 100000
