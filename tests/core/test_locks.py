"""A folder belongs to one process at a time, and to nobody once that process is gone."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from adgcl.core.locks import BusyError, is_locked, locked

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
