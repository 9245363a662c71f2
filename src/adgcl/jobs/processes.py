"""Work in processes on this machine, which may die without affecting the others.

The processes are plain child interpreters on a socket, not `multiprocessing`'s own: they never import the caller's main
script, so a script without `if __name__ == "__main__"` works, and nothing is forked.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from adgcl.core.errors import AdgclError
from adgcl.jobs.executor import (
    EXECUTORS,
    End,
    Executor,
    ExecutorConfig,
    Failed,
    Lost,
    Stopped,
    Work,
    end_of,
    with_short_error,
)
from adgcl.jobs.notices import NOTICES, ignore_notices

_COMMAND = "from adgcl.jobs.processes import serve; serve({handle}, {parent}, {one_thread}, {modules})"
_LOOK = 0.5  # seconds between two checks that the parent is alive


@EXECUTORS.register("processes")
class Processes(Executor):
    """One process per running piece of work; a free process takes the next piece.

    With several workers each process has one thread; `one_thread` says so for a single one.
    """

    def __init__(
        self,
        workers: int = 1,
        config: ExecutorConfig | None = None,
        folder: Path | None = None,
        *,
        one_thread: bool = False,
    ) -> None:
        super().__init__(workers, config, folder)
        self._one_thread = one_thread or workers > 1
        self._running: dict[_Process, Hashable] = {}
        self._idle: list[_Process] = []

    @property
    def free(self) -> int:
        return self.workers - len(self._running)

    def start(self, key: Hashable, work: Work, *given: Any) -> None:
        process = self._process()
        self._running[process] = key
        process.send((work, given))

    def ends(self, seconds: float) -> Iterator[tuple[Any, End]]:
        if not self._running:
            time.sleep(seconds)
            return
        by_pipe = {process.pipe: process for process in self._running}
        for pipe in wait(list(by_pipe), seconds):
            process = by_pipe[pipe]  # type: ignore[index]
            is_end, content = process.receive()
            if not is_end:
                self.on_message(self._running[process], content)
                continue
            key = self._running.pop(process)
            if process.alive:
                self._idle.append(process)
            else:
                process.end()
            yield key, content

    def stop(self) -> None:
        for process in self._running:
            process.stop()

    def close(self) -> None:
        for process in (*self._running, *self._idle):
            process.end()
        self._running.clear()
        self._idle.clear()

    def _process(self) -> _Process:
        """An idle one, one that was started early, or a new one."""
        for waiting in (self._idle, _early):
            while waiting:
                process = waiting.pop()
                if process.alive:
                    return process
                process.end()
        return _Process(self._one_thread)


@contextmanager
def started_early(count: int, *modules: str) -> Iterator[None]:
    """Start processes that import `modules` while this one still prepares their work; those left over are ended.

    Only where it saves time: this one has imported none of the modules itself.
    """
    if not any(module in sys.modules for module in modules):
        _early.extend(_Process(True, modules) for _ in range(count))
    try:
        yield
    finally:
        dismiss_early()


def dismiss_early() -> None:
    """End the processes that were started early and have got no work."""
    while _early:
        _early.pop().end()


class _Process:
    """One child interpreter: work in, messages and then an End out."""

    def __init__(self, one_thread: bool, modules: Sequence[str] = ()) -> None:
        self.pipe, theirs = multiprocessing.Pipe()
        command = _COMMAND.format(
            handle=theirs.fileno(), parent=os.getpid(), one_thread=one_thread, modules=tuple(modules)
        )
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}
        # Its own session: Ctrl-C at the terminal reaches the parent, which then asks its children to stop.
        # -P: not to import the `random.py` that a user may have in the current folder.
        self._child = subprocess.Popen(
            [sys.executable, "-P", "-c", command],
            stdin=subprocess.DEVNULL,
            env=environment,
            pass_fds=(theirs.fileno(),),
            start_new_session=True,
        )
        theirs.close()
        self._asked_to_stop = False

    def send(self, piece: Any) -> None:
        self._asked_to_stop = False
        with suppress(OSError):  # It has died; `receive` says how.
            self.pipe.send(piece)

    def receive(self) -> tuple[bool, Any]:
        """Whether it has ended, and the End or the message; for a process that died, the End says how."""
        try:
            answer: tuple[bool, Any] = self.pipe.recv()
        except (EOFError, OSError):
            return True, self._how_it_died()
        return answer

    @property
    def alive(self) -> bool:
        return self._child.poll() is None

    def stop(self) -> None:
        """Ask it to end: a Trainer answers this signal by saving."""
        if self.alive and not self._asked_to_stop:
            self._child.terminate()
        self._asked_to_stop = True

    def end(self) -> None:
        """End it now."""
        self.pipe.close()
        if self.alive:
            self._child.kill()
        self._child.wait()

    def _how_it_died(self) -> End:
        code = self._child.wait()
        if self._asked_to_stop or -code in NOTICES:
            return Stopped()
        if code == -signal.SIGKILL:
            return Lost(AdgclError("The process was killed, perhaps because memory ran out.", "Try fewer --jobs."))
        return Failed(AdgclError(f"The process ended unexpectedly ({'signal' if code < 0 else 'code'} {abs(code)})."))


# Children that were started before there was work for them.
_early: list[_Process] = []


def serve(handle: int, parent: int, one_thread: bool, modules: Sequence[str] = ()) -> None:
    """The loop of a child: work in, messages and Ends out, until the parent closes the socket."""
    os.dup2(2, 1)  # what a library prints must not mix with the parent's output
    ignore_notices()
    threading.Thread(target=_end_with_parent, args=(parent,), daemon=True).start()
    if one_thread:
        from threadpoolctl import threadpool_limits

        threadpool_limits(limits=1)  # a process per core leaves no core for a second thread
    for module in modules:
        with suppress(Exception):  # Work that needs it will say what is wrong.
            import_module(module)
    with Connection(handle) as pipe:
        while True:
            try:
                work, given = pipe.recv()
                pipe.send((True, with_short_error(end_of(work, given, lambda message: pipe.send((False, message))))))
            except (EOFError, OSError):
                return


def _end_with_parent(parent: int) -> None:
    """Leave no child behind when the parent is killed."""
    while os.getppid() == parent:
        time.sleep(_LOOK)
    os._exit(1)
