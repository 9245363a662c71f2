"""Every executor answers for all that can happen to work, the death of its process included."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from adgcl.core.errors import DataError, Interrupted
from adgcl.core.locks import BusyError
from adgcl.jobs import processes
from adgcl.jobs.executor import EXECUTORS, ArrayExecutor, Busy, Done, End, Executor, Failed, Lost, Stopped
from adgcl.jobs.notices import NOTICES
from adgcl.jobs.processes import Processes, started_early

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")


def work(task: str, number: int, send: Callable[[Any], None]) -> int:
    if task == "wrong data":
        raise DataError("no good", "try others")
    if task == "bug":
        raise ZeroDivisionError("oh")
    if task == "busy":
        raise BusyError("somebody is there")
    if task == "interrupted":
        raise Interrupted("saved")
    if task == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    send(task)
    if task in ("long", "brief"):
        time.sleep(60 if task == "long" else 0.5)
    return number * number


def end_of(executor: Executor, key: str, seconds: float = 120.0) -> End:
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        for found, end in executor.ends(0.2):
            assert found == key
            return end
    raise AssertionError(f"{key} has not ended")


@pytest.mark.parametrize("name", [name for name in EXECUTORS if not issubclass(EXECUTORS[name], ArrayExecutor)])
def test_work_ends_in_one_of_four_ways(name: str, tmp_path: Path) -> None:
    with EXECUTORS[name](1, folder=tmp_path) as executor:
        heard: list[tuple[Any, Any]] = []
        executor.on_message = lambda key, message: heard.append((key, message))
        for task, expected in (("fine", Done(9)), ("busy", Busy()), ("interrupted", Stopped())):
            assert executor.free == 1
            executor.start(task, work, task, 3)
            assert end_of(executor, task) == expected
        assert heard == [("fine", "fine")]
        executor.start("wrong data", work, "wrong data", 1)
        end = end_of(executor, "wrong data")
        assert isinstance(end, Failed) and isinstance(end.error, DataError) and end.error.hint == "try others"
        executor.start("bug", work, "bug", 1)
        end = end_of(executor, "bug")
        assert isinstance(end, Failed) and "oh" in str(end.error)


def test_a_process_that_is_killed_says_so_and_the_next_piece_gets_a_new_one() -> None:
    with Processes(1) as executor:
        executor.start("killed", work, "killed", 1)
        end = end_of(executor, "killed")
        assert isinstance(end, Lost) and "memory" in str(end.error)
        executor.start("fine", work, "fine", 4)
        assert end_of(executor, "fine") == Done(16)


def test_work_that_is_asked_to_stop() -> None:
    with Processes(2) as executor:
        heard: list[Any] = []
        executor.on_message = lambda key, message: heard.append(message)
        executor.start("long", work, "long", 1)
        limit = time.monotonic() + 20
        while not heard and time.monotonic() < limit:
            list(executor.ends(0.1))
        executor.stop()
        assert end_of(executor, "long") == Stopped()


@pytest.mark.parametrize("notice", NOTICES)
def test_a_process_that_a_batch_system_ends_was_not_at_fault(notice: int) -> None:
    """SIGTERM ends it, wherever it is; the others are for its parent to heed."""
    with Processes(1) as executor:
        executor.on_message = lambda key, message: next(iter(executor._running))._child.send_signal(notice)
        executor.start("noticed", work, "brief", 3)
        assert end_of(executor, "noticed") == (Stopped() if notice == signal.SIGTERM else Done(9))


def test_modules_of_the_current_folder_are_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "random.py").write_text("raise SystemExit('mine')\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [path or str(Path(__file__).parents[2]) for path in sys.path])
    executor = Processes(1)
    try:
        executor.start("a", work, "short", 3)
        assert end_of(executor, "a") == Done(9)
    finally:
        executor.close()


def test_two_pieces_run_at_once() -> None:
    with Processes(2) as executor:
        executor.start("a", work, "fine", 2)
        executor.start("b", work, "fine", 3)
        assert executor.free == 0
        ends: dict[str, End] = {}
        while len(ends) < 2:
            ends.update(executor.ends(1.0))
        assert ends == {"a": Done(4), "b": Done(9)}


PARENT = """
import os, signal, sys
from adgcl.jobs.processes import Processes
from tests.jobs.test_processes import work
executor = Processes(1)
def die(key, message):
    (process,) = executor._running
    print(process._child.pid, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
executor.on_message = die
executor.start("long", work, "long", 1)
while True:
    list(executor.ends(1.0))
"""


def test_no_process_is_left_behind_when_the_parent_is_killed() -> None:
    root = Path(__file__).parents[2]
    parent = subprocess.run(
        [sys.executable, "-c", PARENT], capture_output=True, text=True, timeout=60, cwd=root, check=False
    )
    child = int(parent.stdout.split()[0])
    limit = time.monotonic() + 10
    while Path(f"/proc/{child}").exists() and time.monotonic() < limit:
        time.sleep(0.1)
    assert not Path(f"/proc/{child}").exists()


def test_processes_that_were_started_early_get_the_work() -> None:
    """They have imported what it needs by then; one that is left over is ended."""
    with started_early(2, "no_such_module", "wave"):
        early = list(processes._early)
        with Processes(2) as executor:
            executor.start("modules", _has_imported, "wave")
            assert end_of(executor, "modules") == Done(True)
            assert len(processes._early) == 1
            assert [process in early for process in executor._idle] == [True]
    assert not processes._early and not any(process.alive for process in early)


def _has_imported(module: str, send: Callable[[Any], None]) -> bool:
    return module in sys.modules


def test_nothing_is_started_early_where_it_saves_no_time() -> None:
    with started_early(2, "os"):
        assert not processes._early
