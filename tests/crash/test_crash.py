"""A short campaign; `make crash N=1000` runs a long one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parent.parent.parent
# One command of each kind: a run, a table, a folder of seeds and Records, a packed store.
_COMMANDS = ("pretrain", "embed", "evaluate", "prepare")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_nothing_is_lost_when_a_command_is_killed() -> None:
    """In a process of its own, which can be copied: it has one thread."""
    command = [sys.executable, "-m", "tests.crash", "--count", "16", "--only", *_COMMANDS]
    done = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "16 trials, 0 ended differently" in done.stdout
