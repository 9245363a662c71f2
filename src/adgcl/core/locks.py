"""Locks between processes: held by the operating system, so that a killed process leaves none behind."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from adgcl.core.errors import AdgclError
from adgcl.core.files import ensure_folder, explain_os_errors

try:
    import fcntl
except ImportError:  # Windows: one process at a time there
    fcntl = None  # type: ignore[assignment]

LOCK = ".lock"


class BusyError(AdgclError):
    """Another process is working in the same folder."""


@contextmanager
def locked(folder: Path, wait: bool = False) -> Iterator[None]:
    """Have `folder` to oneself; where another process has it, wait for it or raise BusyError."""
    ensure_folder(folder)
    path = Path(folder) / LOCK
    with explain_os_errors(path):
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        if fcntl is not None:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            except BlockingIOError:
                raise BusyError(
                    f"Another process is working in {folder}.", "Wait until it is done, then run the same command."
                ) from None
        yield
    finally:
        os.close(handle)


def is_locked(folder: Path) -> bool:
    """Whether another process works in `folder` right now."""
    try:
        handle = os.open(Path(folder) / LOCK, os.O_RDONLY)
    except OSError:
        return False
    try:
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return False
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
