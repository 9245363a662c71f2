"""Sharing: can several processes work in a folder? What a cluster needs of it, tried with a second process.

Jobs on many machines meet in one folder. It must show all of them whole files (a rename replaces a file in one step),
and keep locks that everybody notices and that end with their holder.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from adgcl.core.errors import OutputError
from adgcl.core.files import explain_os_errors
from adgcl.core.locks import LOCK, is_locked

NEEDED = "locks that other processes notice and that end with their holder, and renames that replace a file in one step"
_BEFORE, _AFTER = "before", "after"
_PATIENCE = 10.0  # seconds for another process to start, and for its changes to be seen
# It imports nothing of ours, so that it starts quickly.
_OTHER = """
import os, sys, time
from filelock import FileLock
lock, part, file, text = sys.argv[1:]
held = FileLock(lock)
held.acquire(timeout=5)
with open(part, "w") as made:
    made.write(text)
os.replace(part, file)
time.sleep(60)
"""


def check_shared(folder: Path) -> None:
    """Try in an existing folder what jobs on several machines need; raise an OutputError that says what is lacking."""
    with explain_os_errors(folder), tempfile.TemporaryDirectory(prefix=".adgcl-", dir=folder) as made:
        place = Path(made)
        file = place / "file"
        file.write_text(_BEFORE, encoding="utf-8")
        command = [sys.executable, "-c", _OTHER, place / LOCK, place / "part", file, _AFTER]
        with subprocess.Popen(list(map(str, command)), stderr=subprocess.DEVNULL) as other:
            try:
                if not _soon(lambda: file.read_text(encoding="utf-8") == _AFTER):
                    raise _lacking(folder, "a file that another process renames does not replace the old one")
                if not is_locked(place):
                    raise _lacking(folder, "a lock that another process holds is not noticed")
            finally:
                other.kill()
            other.wait()
            if not _soon(lambda: not is_locked(place)):
                raise _lacking(folder, "a lock stays when the process that held it is killed")


def _soon(holds: Callable[[], bool]) -> bool:
    limit = time.monotonic() + _PATIENCE
    while not holds():
        if time.monotonic() > limit:
            return False
        time.sleep(0.02)
    return True


def _lacking(folder: Path, what: str) -> OutputError:
    return OutputError(
        f"{folder} cannot be shared: {what}.",
        "Choose a folder on another file system, or mount this one with locks (Lustre: -o flock; NFS: not nolock).",
    )
