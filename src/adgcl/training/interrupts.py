"""Polite interrupts: the step that is running may finish, so that the run can be saved."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def polite_interrupts(max_seconds: float | None = None) -> Iterator[Callable[[], bool]]:
    """Let Ctrl-C, SIGTERM and the end of the allowed time finish the step that is running.

    A second Ctrl-C stops at once.
    """
    caught: list[int] = []
    end = math.inf if max_seconds is None else time.monotonic() + max_seconds

    def note(number: int, frame: Any) -> None:
        # A batch system may say it twice: to every process, and again through the one that started this.
        if caught and number == signal.SIGINT:
            raise KeyboardInterrupt
        caught.append(number)

    if threading.current_thread() is not threading.main_thread():
        yield lambda: time.monotonic() >= end
        return
    # An ignored signal stays ignored: workers leave Ctrl-C to the process that started them.
    heeded = [s for s in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(s) is not signal.SIG_IGN]
    previous = {s: signal.signal(s, note) for s in heeded}
    try:
        yield lambda: bool(caught) or time.monotonic() >= end
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
