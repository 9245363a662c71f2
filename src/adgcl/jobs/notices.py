"""Notices: the signals by which a batch system says that time is almost up, or a user that a process should end."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

# A batch system may send them to every process of a job at once; what they end was not at fault.
NOTICES = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGUSR1", "SIGUSR2") if hasattr(signal, name))


@contextmanager
def heeding_notices() -> Iterator[Callable[[], bool]]:
    """Note the signals instead of ending; the function given says whether one has come."""
    came: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    before = {number: signal.signal(number, lambda received, frame: came.append(received)) for number in NOTICES}
    try:
        yield lambda: bool(came)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def ignore_notices() -> None:
    """Leave them to the process that started this one; a request to end (SIGTERM) is still obeyed."""
    for number in NOTICES:
        if number is not signal.SIGTERM:
            signal.signal(number, signal.SIG_IGN)
