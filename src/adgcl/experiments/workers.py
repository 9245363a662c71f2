"""Workers: processes that do one job after another and may die without taking the table with them."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from adgcl.core.errors import AdgclError, Interrupted
from adgcl.core.locks import BusyError

# A task and a way to send messages in; whether there was anything to do out.
Work = Callable[[Any, Callable[[Any], None]], bool]


@dataclass(frozen=True)
class Progress:
    """A message of the work itself, on its way to whoever looks."""

    content: Any


@dataclass(frozen=True)
class Done:
    """The work is finished: done just now, or found to be done."""

    fresh: bool


@dataclass(frozen=True)
class Busy:
    """Another process is at the same work."""


@dataclass(frozen=True)
class Stopped:
    """The work was told to stop; what is done is saved."""


@dataclass(frozen=True)
class Failed:
    """The work cannot be done, for this reason."""

    error: Exception


Answer = Progress | Done | Busy | Stopped | Failed


class Worker:
    """One process; `start` gives it work, `receive` takes its answers from `pipe`."""

    def __init__(self, work: Work, one_thread: bool) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, work, one_thread), daemon=True)
        self._process.start()
        theirs.close()
        self._told_to_stop = False

    def start(self, task: Any) -> None:
        self.pipe.send(task)

    def receive(self) -> Answer:
        """The next answer; a process that has died answers by the way it died."""
        try:
            answer: Answer = self.pipe.recv()
        except (EOFError, OSError):
            self._process.join(10)
            return Stopped() if self._told_to_stop else Failed(AdgclError(self._how_it_died()))
        return answer

    @property
    def alive(self) -> bool:
        return self._process.is_alive()

    def stop(self) -> None:
        """Ask for a polite end: a Trainer answers this signal by saving."""
        self._told_to_stop = True
        if self._process.is_alive():
            self._process.terminate()

    def end(self) -> None:
        """End it now."""
        self.pipe.close()
        if self._process.is_alive():
            self._process.kill()
        self._process.join(10)

    def _how_it_died(self) -> str:
        code = self._process.exitcode
        if code == -signal.SIGKILL:
            return "The process was killed, perhaps because memory ran out. Try fewer --jobs."
        return f"The process ended unexpectedly ({'signal' if (code or 0) < 0 else 'code'} {abs(code or 0)})."


def _serve(pipe: Connection, work: Work, one_thread: bool) -> None:
    """The life of a worker: tasks in, answers out. Ctrl-C is the affair of the process that started it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if one_thread:
        from threadpoolctl import threadpool_limits

        threadpool_limits(limits=1)  # a process per core leaves no core for a second thread
    while True:
        try:
            task = pipe.recv()
        except (EOFError, OSError):
            return
        pipe.send(_answer(work, task, lambda content: pipe.send(Progress(content))))


def _answer(work: Work, task: Any, send: Callable[[Any], None]) -> Answer:
    try:
        return Done(work(task, send))
    except BusyError:
        return Busy()
    except (Interrupted, KeyboardInterrupt):
        return Stopped()
    except AdgclError as error:
        return Failed(error)
    except MemoryError:
        return Failed(AdgclError("There is not enough memory. Try fewer --jobs."))
    except Exception as error:
        # Any exception becomes the reason of one cell; one of our own kind can always be pickled.
        return Failed(AdgclError(f"{type(error).__name__}: {(str(error).strip().splitlines() or [''])[0]}"))


def _end_with_parent() -> None:
    """Leave no worker behind when the parent is killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
