"""Jobs: independent pieces of work on the cores there are, with live messages back."""

from __future__ import annotations

import multiprocessing
import os
import queue
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from typing import Any, TypeVar

from threadpoolctl import threadpool_limits

from adgcl.core.errors import Interrupted

Task = TypeVar("Task")
Result = TypeVar("Result")
Send = Callable[[Any], None]

_send_queue: Any = None
_stop: Any = None


def run_jobs(
    work: Callable[[Task, Send], Result],
    tasks: Sequence[Task],
    jobs: int,
    on_message: Callable[[Any], None] = lambda message: None,
) -> Iterator[tuple[int, Result]]:
    """Yield `(position, result)` as tasks finish; `work` may send messages, which arrive in this process.

    One job, or one task, runs right here: same results, easier to debug.
    """
    if jobs <= 1 or len(tasks) <= 1:
        for position, task in enumerate(tasks):
            yield position, work(task, on_message)
        return
    context = multiprocessing.get_context("spawn")
    messages, stop = context.Queue(), context.Event()
    with ProcessPoolExecutor(min(jobs, len(tasks)), context, _prepare, (messages, stop)) as pool:
        waiting: dict[Future[Result], int] = {pool.submit(_run, work, task): i for i, task in enumerate(tasks)}
        try:
            while waiting:
                done, _ = wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED)
                _drain(messages, on_message)
                for future in done:
                    yield waiting.pop(future), future.result()
        except BaseException:
            # Ctrl-C here, or a job that failed: the other jobs save what they have and end.
            stop.set()
            raise
        finally:
            for future in waiting:
                future.cancel()


def _prepare(messages: Any, stop: Any) -> None:
    """Make a worker process ready; Ctrl-C is the parent's affair, which then tells its workers to stop."""
    global _send_queue, _stop
    _send_queue, _stop = messages, stop
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threadpool_limits(limits=1)  # a process per core leaves no core for a second thread
    threading.Thread(target=_end_with_parent, daemon=True).start()
    threading.Thread(target=_end_when_told, daemon=True).start()


def _end_when_told() -> None:
    """Turn the parent's word into the signal that a Trainer answers by saving."""
    _stop.wait()
    os.kill(os.getpid(), signal.SIGTERM)


def _end_with_parent() -> None:
    """Leave no worker behind when the parent is killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _run(work: Callable[[Task, Send], Result], task: Task) -> Result:
    if _stop.is_set():
        raise Interrupted("Stopped before it began.")
    return work(task, _send_queue.put)


def _drain(messages: Any, on_message: Callable[[Any], None]) -> None:
    while True:
        try:
            on_message(messages.get_nowait())
        except queue.Empty:
            return
