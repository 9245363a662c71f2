"""One function over many chunks, in several processes if that pays off, with ordered results and bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Any, TypeVar

from adgcl.core.errors import AdgclError, ConfigError
from adgcl.core.provenance import available_cores
from adgcl.jobs.executor import Done, Executor, Failed, Send
from adgcl.jobs.processes import Processes

Item = TypeVar("Item")
Result = TypeVar("Result")

CHUNK = 2048
# Below this many molecules a second process costs more than it saves (each takes about a second to start).
_WORTH_A_PROCESS = 20_000
_WAIT = 1.0


def map_chunks(
    function: Callable[[list[Item]], Result], items: Sequence[Item], workers: int | None = None
) -> Iterator[tuple[int, Result]]:
    """Call a module-level function on consecutive chunks of `items`; yields each chunk's size and result.

    `workers` is the number of processes; None means one, or all cores for 20,000 items and more.
    """
    if workers is None:
        workers = available_cores() if len(items) >= _WORTH_A_PROCESS else 1
    if workers < 1:
        raise ConfigError(f"There are {workers} workers.", "Use at least 1.")
    chunks = (list(items[start : start + CHUNK]) for start in range(0, len(items), CHUNK))
    if workers == 1 or len(items) <= CHUNK:
        return ((len(chunk), function(chunk)) for chunk in chunks)
    return _in_order(function, chunks, Processes(min(workers, -(-len(items) // CHUNK))))


def _in_order(
    function: Callable[[list[Item]], Result], chunks: Iterator[list[Item]], executor: Executor
) -> Iterator[tuple[int, Result]]:
    """Results in the order of their chunks; chunks start only shortly before their turn, so that few results wait."""
    sizes: dict[int, int] = {}
    ready: dict[int, Any] = {}
    turn, numbers, most_ahead = 0, count(), 3 * executor.workers

    def start_more() -> None:
        while executor.free and len(sizes) < most_ahead and (chunk := next(chunks, None)) is not None:
            number = next(numbers)
            sizes[number] = len(chunk)
            executor.start(number, _apply, function, chunk)

    with executor:
        start_more()
        while sizes:
            for number, end in executor.ends(_WAIT):
                ready[number] = _result(end)
            start_more()
            while turn in ready:
                yield sizes.pop(turn), ready.pop(turn)
                turn += 1
                start_more()


def _apply(function: Callable[[list[Item]], Result], chunk: list[Item], send: Send) -> Result:
    return function(chunk)


def _result(end: Any) -> Any:
    if isinstance(end, Done):
        return end.result
    why = f" {end.error}" if isinstance(end, Failed) else ""
    raise AdgclError(f"A process reading molecules stopped before it finished.{why}", "Try again with one worker.")
