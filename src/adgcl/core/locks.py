"""Locks between processes, so that no two work in one folder.

They use `filelock`: the operating system holds the lock, so a killed process leaves none behind. On a file system
without such locks (some Lustre and NFS set-ups) filelock writes a marker with the holder's process and host instead;
`adgcl doctor` shows which kind a folder offers.
"""

from __future__ import annotations

import errno
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from filelock import FileLock, SoftFileLock, Timeout

from adgcl.core.errors import AdgclError, OutputError
from adgcl.core.files import ensure_folder, explain_os_errors

LOCK = ".lock"
_NO_LOCKS = (errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOLCK)


class BusyError(AdgclError):
    """Another process is working in the same folder."""


@contextmanager
def locked(folder: Path, wait: bool = False) -> Iterator[None]:
    """Lock `folder`; if another process has it, wait or raise BusyError."""
    ensure_folder(folder)
    lock = FileLock(Path(folder) / LOCK)
    with explain_os_errors(Path(folder) / LOCK), _explain_missing_locks(folder):
        try:
            lock.acquire(timeout=-1 if wait else 0)
        except Timeout:
            raise BusyError(
                f"Another process is working in {folder}.", "Wait until it finishes, then run the same command again."
            ) from None
    try:
        yield
    finally:
        lock.release()


def is_locked(folder: Path) -> bool:
    """Whether another process works in `folder` right now."""
    if not (Path(folder) / LOCK).exists():
        return False
    try:
        with locked(folder):
            return False
    except BusyError:
        return True


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
