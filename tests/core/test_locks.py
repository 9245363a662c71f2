"""A folder belongs to one process at a time, and to nobody once that process is gone."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from adgcl.core.errors import OutputError
from adgcl.core.locks import BusyError, is_locked, lock_kind, locked

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs POSIX locks")
HOLD = """
import sys, time
from pathlib import Path
from adgcl.core.locks import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_one_at_a_time(tmp_path: Path) -> None:
    folder = tmp_path / "job"
    assert not is_locked(folder)
    with locked(folder):
        assert is_locked(folder)
        with pytest.raises(BusyError), locked(folder):
            pass
    assert not is_locked(folder)


def test_a_killed_process_leaves_no_lock(tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "held\n"
    assert is_locked(tmp_path)
    process.kill()
    process.wait()
    limit = time.monotonic() + 10
    while is_locked(tmp_path) and time.monotonic() < limit:
        time.sleep(0.01)
    with locked(tmp_path):
        pass


def test_the_kind_of_lock_is_tried_and_nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import fcntl

    assert lock_kind(tmp_path) == "system"

    def refuse(number: int) -> Callable[..., None]:
        def flock(*_: object) -> None:
            raise OSError(number, os.strerror(number))

        return flock

    monkeypatch.setattr(fcntl, "flock", refuse(errno.ENOSYS))
    assert lock_kind(tmp_path) == "marker"
    monkeypatch.setattr(fcntl, "flock", refuse(errno.ENOLCK))
    with pytest.raises(OutputError, match="offers no locks"):
        lock_kind(tmp_path)
    assert list(tmp_path.iterdir()) == []
