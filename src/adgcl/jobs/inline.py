"""Work done in this process: the same results, easier to debug."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import Any

from adgcl.jobs.executor import EXECUTORS, End, Executor, ExecutorConfig, Work, end_of


@EXECUTORS.register("inline")
class Inline(Executor):
    """One piece of work at a time, in this process; `start` returns when it is done."""

    shares_signals = True

    def __init__(self, workers: int = 1, config: ExecutorConfig | None = None, folder: Path | None = None) -> None:
        super().__init__(1, config, folder)
        self._ended: list[tuple[Any, End]] = []

    @property
    def free(self) -> int:
        return 1 - len(self._ended)

    def start(self, key: Hashable, work: Work, *given: Any) -> None:
        self._ended.append((key, end_of(work, given, lambda message: self.on_message(key, message))))

    def ends(self, seconds: float) -> Iterator[tuple[Any, End]]:
        while self._ended:
            yield self._ended.pop(0)

    def stop(self) -> None:
        """Nothing runs between two calls."""

    def close(self) -> None:
        self._ended.clear()
