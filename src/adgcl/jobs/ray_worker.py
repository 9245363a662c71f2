"""What Ray runs on a machine of its cluster: a process that does the work, and what passes its messages on."""

from __future__ import annotations

import pickle
import time
from contextlib import suppress
from typing import Any

from adgcl.core.extras import import_extra
from adgcl.jobs.executor import End, Failed, Send, with_short_error
from adgcl.jobs.home import Home, WorkerError
from adgcl.jobs.processes import Processes

_LOOK = 0.5  # seconds between two checks whether work should stop
_FLUSH = 10.0  # seconds that the last message may take


class Mailbox:
    """Messages on their way from workers to the command, and its word that they should stop."""

    def __init__(self) -> None:
        self.messages: list[tuple[int, Any]] = []
        self.stopping = False

    def put(self, number: int, message: Any) -> None:
        self.messages.append((number, message))

    def take(self, stopping: bool) -> list[tuple[int, Any]]:
        self.stopping = stopping
        taken, self.messages = self.messages, []
        return taken

    def should_stop(self) -> bool:
        return self.stopping


# The process that does the work of this Ray worker, kept for the next piece: starting one takes seconds.
_inside: dict[bool, Processes] = {}


def oversee(home: Home, number: int, piece: bytes, one_thread: bool, mailbox: Any) -> End:
    """What Ray runs: see to it that a process does the work, and pass on what it says."""
    try:
        home.enter()
    except WorkerError as error:
        return Failed(error)
    ray, last = import_extra("ray", "ray", "--executor ray"), None

    def pass_on(key: Any, message: Any) -> None:
        nonlocal last
        last = mailbox.put.remote(number, message)

    worker = _inside.setdefault(one_thread, Processes(1, one_thread=one_thread))
    worker.on_message = pass_on
    worker.start(number, _perform, piece)
    looked = time.monotonic()
    while True:
        for _, end in worker.ends(_LOOK):
            if last is not None:  # Its last message must not come after its End.
                with suppress(ray.exceptions.RayError):
                    ray.get(last, timeout=_FLUSH)
            return with_short_error(end)
        if time.monotonic() - looked > _LOOK:
            looked = time.monotonic()
            with suppress(ray.exceptions.RayError):  # It will be back.
                if ray.get(mailbox.should_stop.remote(), timeout=_FLUSH):
                    worker.stop()


def _perform(piece: bytes, send: Send) -> Any:
    work, given = pickle.loads(piece)
    return work(*given, send)
