"""Allocation: how long the batch system lets this process run, and whether its user has cancelled it."""

from __future__ import annotations

import datetime
import os
import re
import subprocess
import time
from contextlib import suppress

_BEGAN = time.monotonic()


def allocation_seconds_left() -> float | None:
    """Seconds until the batch system ends this process; None outside of one, or without a limit."""
    if "SLURM_JOB_ID" in os.environ:
        end = _number("SLURM_JOB_END_TIME") or _end_time(_slurm_job())
        return None if end is None else end - time.time()
    limit = _number("SUBMITIT_LOCAL_TIMEOUT_S")
    return None if limit is None else _BEGAN + limit - time.monotonic()


def is_cancelled() -> bool:
    """Whether the user has cancelled this Slurm job, so that it should not come back."""
    return "JobState=CANCELLED" in _slurm_job()


def _slurm_job() -> str:
    """What Slurm says about this job; nothing if it does not answer, or this is no Slurm job."""
    if "SLURM_JOB_ID" not in os.environ:
        return ""
    # One task of an array has the number of the whole array.
    array = [os.environ.get(name, "") for name in ("SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID")]
    job = "_".join(array) if all(array) else os.environ["SLURM_JOB_ID"]
    with suppress(OSError, subprocess.SubprocessError):
        command = ["scontrol", "show", "job", job, "--oneliner"]
        return subprocess.run(command, capture_output=True, text=True, timeout=30, check=True).stdout
    return ""


def _end_time(about: str) -> float | None:
    """`EndTime=2026-01-31T12:00:00`, in the time of this machine; `Unknown` if there is no limit."""
    found = re.search(r"\bEndTime=(\S+)", about)
    with suppress(ValueError):
        return datetime.datetime.fromisoformat(found[1]).timestamp() if found else None
    return None


def _number(variable: str) -> float | None:
    with suppress(KeyError, ValueError):
        return float(os.environ[variable])
    return None
