"""Workers answer for everything that can happen to them, their own death included."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from typing import Any

import pytest

from adgcl.core.errors import DataError
from adgcl.experiments.workers import Done, Failed, Progress, Stopped, Worker

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")


def work(task: str, send: Callable[[Any], None]) -> bool:
    if task == "wrong data":
        raise DataError("no good", "try others")
    if task == "bug":
        raise ZeroDivisionError("oh")
    if task == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    send(task)
    if task == "long":
        time.sleep(60)
    return True


def test_one_life_of_a_worker() -> None:
    worker = Worker(work, one_thread=False)
    worker.start("short")
    assert [worker.receive(), worker.receive()] == [Progress("short"), Done(True)]
    worker.start("wrong data")
    answer = worker.receive()
    assert isinstance(answer, Failed) and isinstance(answer.error, DataError) and answer.error.hint == "try others"
    worker.start("bug")
    answer = worker.receive()
    assert isinstance(answer, Failed) and "ZeroDivisionError: oh" in str(answer.error)
    worker.start("killed")
    answer = worker.receive()
    assert isinstance(answer, Failed) and "memory" in str(answer.error) and not worker.alive
    worker.end()


def test_a_worker_that_is_told_to_stop() -> None:
    worker = Worker(work, one_thread=True)
    worker.start("long")
    assert worker.receive() == Progress("long")
    worker.stop()
    assert worker.receive() == Stopped()
    worker.end()
