"""Locks between processes, so that no two work in one folder or on one file.

They use `filelock`: the operating system holds the lock, so a killed process leaves none behind. On a file system
without such locks (some Lustre and NFS set-ups) filelock writes a marker with the holder's process and host instead;
`adgcl doctor` shows which kind a folder offers. A note beside the lock tells others who holds it.
"""

from __future__ import annotations

import errno
import json
import os
import socket
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from filelock import FileLock, SoftFileLock, Timeout

from adgcl.core.errors import AdgclError, OutputError
from adgcl.core.files import ensure_folder, explain_os_errors
from adgcl.core.trees import TreeError, fitted, read_json

LOCK = ".lock"
_HOLDER = ".holder"
_NO_LOCKS = (errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOLCK)


class BusyError(AdgclError):
    """Another process is working in the same folder, or on the same file."""


@dataclass(frozen=True)
class Holder:
    """Who holds a lock."""

    process: int
    host: str

    def __str__(self) -> str:
        return f"process {self.process} on {self.host}"


@contextmanager
def locked(folder: Path, wait: bool = False) -> Iterator[None]:
    """Lock `folder`; if another process has it, wait or raise BusyError."""
    with _held(ensure_folder(Path(folder)) / LOCK, f"in {folder}", wait), _signed(Path(folder) / LOCK):
        yield


@contextmanager
def locked_file(path: Path) -> Iterator[None]:
    """Lock a file that is being made; if another process is making it, raise BusyError. No lock is left behind."""
    path = Path(path)
    lock = ensure_folder(path.parent) / f".{path.name[:200]}{LOCK}"
    with _held(lock, f"on {path}"), _signed(lock):
        try:
            yield
        finally:
            # While it is held: filelock notices a lock that has been removed, and starts over.
            with suppress(OSError):
                lock.unlink()


def is_locked(folder: Path) -> bool:
    """Whether another process works in `folder` right now."""
    try:
        refuse_if_locked(folder)
    except BusyError:
        return True
    return False


def refuse_if_locked(folder: Path) -> None:
    """Raise BusyError if another process works in `folder`: better now than after the data has been read."""
    lock = Path(folder) / LOCK
    if lock.exists():
        with _held(lock, f"in {folder}"):
            pass


def holder_of(folder: Path) -> Holder | None:
    """Who works in `folder`, as far as that is known; asked only while it is locked."""
    return _read_holder(Path(folder) / LOCK)


@contextmanager
def _held(lock: Path, where: str, wait: bool = False) -> Iterator[None]:
    held = FileLock(lock)
    with explain_os_errors(lock), _explain_missing_locks(lock.parent):
        try:
            held.acquire(timeout=-1 if wait else 0)
        except Timeout:
            raise _busy(lock, where) from None
    try:
        yield
    finally:
        held.release()


@contextmanager
def _signed(lock: Path) -> Iterator[None]:
    """Leave a note beside a lock that says who holds it; the lock holds without one, on a full disk for example."""
    note = _note(lock)
    with suppress(OSError):
        note.write_text(json.dumps(asdict(Holder(os.getpid(), socket.gethostname()))), encoding="utf-8")
    try:
        yield
    finally:
        with suppress(OSError):
            note.unlink(missing_ok=True)


def _busy(lock: Path, where: str) -> BusyError:
    holder = _read_holder(lock)
    who = "Another process" if holder is None else f"Another process ({holder})"
    return BusyError(
        f"{who} is working {where}.", "Wait until it finishes and run the same command again, or choose another --out."
    )


def _read_holder(lock: Path) -> Holder | None:
    try:
        return fitted(Holder, read_json(_note(lock)))
    except (OSError, TreeError):
        return None


def _note(lock: Path) -> Path:
    return lock.with_name(lock.name + _HOLDER)


def lock_kind(folder: Path) -> Literal["system", "marker"]:
    """Who keeps locks in an existing folder, the operating system or marker files; nothing is left behind."""
    with (
        explain_os_errors(folder),
        tempfile.TemporaryDirectory(prefix=".adgcl-", dir=folder) as place,
        _explain_missing_locks(folder),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")  # filelock warns about exactly what is being checked here
        with FileLock(Path(place) / LOCK, timeout=0) as lock:
            return "marker" if isinstance(lock, SoftFileLock) else "system"


@contextmanager
def _explain_missing_locks(folder: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, NotImplementedError) as error:
        if isinstance(error, OSError) and error.errno not in _NO_LOCKS:
            raise
        raise OutputError(
            f"The file system of {folder} offers no locks, so two processes could spoil each other's work there.",
            "Choose a folder on another file system, or mount this one with locks (Lustre: -o flock).",
        ) from error
