"""One function over many chunks in several processes, results in order, memory bounded.

The workers are plain child interpreters talking through pipes, not `multiprocessing`: they never import the
caller's main script, so a script without `if __name__ == "__main__"` works, and nothing is forked.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from typing import IO, Any, TypeVar

from adgcl.core.errors import AdgclError, ConfigError

Item = TypeVar("Item")
Result = TypeVar("Result")
Worker = subprocess.Popen[bytes]

CHUNK = 2048
# Below this many molecules a second process costs more than it gives (each takes about a second to start).
_WORTH_A_PROCESS = 20_000
_COMMAND = "from adgcl.graphs.processes import serve; serve()"


def map_chunks(
    function: Callable[[list[Item]], Result], items: Sequence[Item], workers: int | None = None
) -> Iterator[tuple[int, Result]]:
    """Call a module-level function on consecutive chunks of `items`; yields each chunk's size and result.

    `workers` is the number of processes; None means one, or all cores for 20,000 items and more.
    """
    if workers is None:
        workers = _available_cores() if len(items) >= _WORTH_A_PROCESS else 1
    if workers < 1:
        raise ConfigError(f"{workers} workers cannot do any work.", "Ask for at least 1.")
    chunks = (list(items[start : start + CHUNK]) for start in range(0, len(items), CHUNK))
    if workers == 1 or len(items) <= CHUNK:
        return ((len(chunk), function(chunk)) for chunk in chunks)
    return _in_processes(function, chunks, min(workers, -(-len(items) // CHUNK)))


def _in_processes(
    function: Callable[[list[Item]], Result], chunks: Iterator[list[Item]], count: int
) -> Iterator[tuple[int, Result]]:
    workers = [_start() for _ in range(count)]
    idle: SimpleQueue[Worker] = SimpleQueue()
    for worker in workers:
        idle.put(worker)
    # A thread only waits for its process; two chunks per worker keep all of them busy in bounded memory.
    threads = ThreadPoolExecutor(count)
    waiting: deque[tuple[int, Future[Any]]] = deque()
    try:
        for chunk in chunks:
            waiting.append((len(chunk), threads.submit(_ask, idle, (function, chunk))))
            if len(waiting) > 2 * count:
                size, future = waiting.popleft()
                yield size, future.result()
        while waiting:
            size, future = waiting.popleft()
            yield size, future.result()
    finally:
        threads.shutdown(cancel_futures=True)
        for worker in workers:
            _stop(worker)


def serve() -> None:
    """What a worker does: answer chunks from standard input until it closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle; it closes our input
    source, sink = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints must not mix with the answers
    while (job := _receive(source)) is not None:
        function, chunk = job
        _send(sink, (function(chunk),))


def _available_cores() -> int:
    """Cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _start() -> Worker:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}
    return subprocess.Popen(
        [sys.executable, "-c", _COMMAND], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    )


def _ask(idle: SimpleQueue[Worker], job: Any) -> Any:
    worker = idle.get()
    try:
        assert worker.stdin is not None and worker.stdout is not None
        _send(worker.stdin, job)
        answer = _receive(worker.stdout)
    except (OSError, ValueError):
        answer = None
    finally:
        idle.put(worker)
    if answer is None:
        raise AdgclError(
            "A process reading molecules stopped before it was done.",
            "It may have run out of memory. Try again with one worker.",
        )
    return answer[0]


def _stop(worker: Worker) -> None:
    for pipe in (worker.stdin, worker.stdout):
        try:
            if pipe is not None:
                pipe.close()
        except OSError:  # the worker is gone already
            pass
    try:
        worker.wait(timeout=5)
    except subprocess.TimeoutExpired:
        worker.kill()
        worker.wait()


def _send(pipe: IO[bytes], value: Any) -> None:
    """One value on a pipe between this program and its own child."""
    data = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    pipe.write(len(data).to_bytes(8, "little"))
    pipe.write(data)
    pipe.flush()


def _receive(pipe: IO[bytes]) -> Any:
    """The next value on the pipe, or None when it is closed."""
    head = pipe.read(8)
    size = int.from_bytes(head, "little")
    data = pipe.read(size) if len(head) == 8 else b""
    return pickle.loads(data) if data and len(data) == size else None
