"""Whoever comes second is refused and told who was first; nothing of the first one's work is touched."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.conftest import SMALL, Run

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs POSIX locks")
_HOLD = """
import sys, time
from pathlib import Path
from adgcl.core import locks
with getattr(locks, sys.argv[1])(Path(sys.argv[2])):
    print("held", flush=True)
    time.sleep(60)
"""


@contextmanager
def _held_elsewhere(kind: str, path: Path) -> Iterator[str]:
    """Another process holds a lock; how a message should name it."""
    process = subprocess.Popen([sys.executable, "-c", _HOLD, kind, str(path)], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None and process.stdout.readline() == "held\n"
        yield f"process {process.pid} on {socket.gethostname()}"
    finally:
        process.kill()
        process.wait()


def _listing(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith(".")
    }


@pytest.mark.parametrize("resume", [False, True])
def test_two_runs_in_one_folder(run: Run, molecules: Path, tmp_path: Path, resume: bool) -> None:
    out = tmp_path / "run"
    command = ["pretrain", molecules, "--out", out, "--epochs", "1", *SMALL]
    if resume:
        assert run(*command).code == 0
    with _held_elsewhere("locked", out) as holder:
        before = _listing(out)
        answer = run(*command, *(["--resume", "--epochs", "3"] if resume else []))
        assert answer.code == 1 and holder in answer.err and str(out) in answer.err.replace("\n", "")
        assert _listing(out) == before
    assert run(*command, *(["--resume"] if resume else [])).code == 0


def test_two_tables_of_embeddings(run: Run, finished: Path, molecules: Path, tmp_path: Path) -> None:
    out = tmp_path / "e.csv"
    with _held_elsewhere("locked_file", out) as holder:
        answer = run("embed", finished, molecules, "--out", out)
        assert answer.code == 1 and holder in answer.err
        assert not out.exists()
    assert run("embed", finished, molecules, "--out", out).code == 0
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_two_tables_of_predictions(run: Run, molecules: Path, tmp_path: Path) -> None:
    out = tmp_path / "p.csv"
    with _held_elsewhere("locked_file", out) as holder:
        answer = run("predict", tmp_path / "model", molecules, "--out", out)
    assert answer.code == 1 and holder in answer.err


def test_two_models_in_one_folder(run: Run, molecules: Path, tmp_path: Path) -> None:
    out = tmp_path / "model"
    with _held_elsewhere("locked", out) as holder:
        answer = run("finetune", "none", molecules, "--label-column", "logp", "--epochs", "1", "--out", out, *SMALL)
    assert answer.code == 1 and holder in answer.err


def test_a_fresh_start_does_not_delete_what_another_process_is_making(run: Run, toys: Path, tmp_path: Path) -> None:
    command = ["evaluate", toys, "--method", "random_init", "--seeds", "1", "--work", tmp_path / "work", *SMALL]
    assert run(*command).code == 0
    (seed,) = (tmp_path / "work").glob("*/seed-0")
    with _held_elsewhere("locked", seed) as holder:
        before = _listing(seed)
        answer = run(*command, "--fresh")
        assert answer.code == 1 and holder in answer.err
        assert _listing(seed) == before
    assert run(*command, "--fresh").code == 0
