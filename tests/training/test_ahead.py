"""Loops compiled in advance: a small run compiles them into the cache, from which others take them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from adgcl.graphs.kernels.compiled import on_compiling
from adgcl.training import ahead
from adgcl.training.trackers import Messenger, ProgressBar, tell

CUT = """
import numpy as np
from adgcl.data.load import load_dataset
from adgcl.graphs.kernels.compiled import on_compiling

heard = []
with on_compiling(lambda: heard.append(1)):
    load_dataset("freesolv").store.batch(np.arange(4))
print(len(heard))
"""


def test_what_is_in_the_cache_is_not_compiled_again(tmp_path: Path) -> None:
    """The loop that cuts batches, in two processes with a cache of their own."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    heard = [
        subprocess.run([sys.executable, "-c", CUT], env=environment, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    assert list(map(int, heard)) == [1, 0]


def test_every_kind_trains_and_embeds() -> None:
    """In this process: whatever had to be compiled the first time, nothing is left the second time."""
    for kind in ahead._KINDS:
        ahead.compile_kind(*kind, print)
        assert not ahead.compile_kind(*kind, print), kind


def test_a_note_reaches_the_trackers_that_take_notes() -> None:
    sent, said = [], []
    tell([Messenger(sent.append), ProgressBar("x", False, said.append), object()], "compiling")  # type: ignore[list-item]
    assert [report.note for report in sent] == said == ["compiling"]


def test_listening_ends_with_the_context() -> None:
    import numba

    heard: list[int] = []
    with on_compiling(lambda: heard.append(1)):
        numba.njit(lambda x: x + 1)(1)
    assert heard == [1]
    numba.njit(lambda x: x + 2)(1)
    assert heard == [1]
