"""Polite interrupts: the step that is running may finish, so that the run can be saved."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Interrupts:
    """Whether to stop: because a signal came, or because the allowed time is up."""

    def __init__(self, max_seconds: float | None) -> None:
        self._caught = False
        self._end = math.inf if max_seconds is None else time.monotonic() + max_seconds

    @property
    def signalled(self) -> bool:
        return self._caught

    @property
    def due(self) -> bool:
        return self._caught or time.monotonic() >= self._end

    def note(self, number: int, frame: Any) -> None:
        # A batch system may say it twice: to every process, and again through the one that started this.
        if self._caught and number == signal.SIGINT:
            raise KeyboardInterrupt
        self._caught = True


@contextmanager
def polite_interrupts(max_seconds: float | None = None) -> Iterator[Interrupts]:
    """Let Ctrl-C, SIGTERM and the end of the allowed time finish the step that is running.

    A second Ctrl-C stops at once.
    """
    interrupts = Interrupts(max_seconds)
    if threading.current_thread() is not threading.main_thread():
        yield interrupts
        return
    # An ignored signal stays ignored: workers leave Ctrl-C to the process that started them.
    heeded = [s for s in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(s) is not signal.SIG_IGN]
    previous = {s: signal.signal(s, interrupts.note) for s in heeded}
    try:
        yield interrupts
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
