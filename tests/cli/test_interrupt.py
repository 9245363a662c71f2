"""Ctrl-C saves; the same command resumes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.conftest import SMALL

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")


def start(*arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "adgcl", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)


def stop_when(process: subprocess.Popen[str], pattern: str, count: int) -> str:
    """Press Ctrl-C, as a terminal does for the whole group, once `count` files match."""
    limit = time.monotonic() + 90
    while len(list(Path().glob(pattern))) < count:
        assert process.poll() is None and time.monotonic() < limit, process.communicate()
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130 and "Traceback" not in err
    return err


def test_pretrain_saves_and_resumes(run, toys: Path) -> None:
    process = start("pretrain", toys, "--out", "run", "--epochs", 100000, *SMALL)
    err = stop_when(process, "run/metrics.jsonl", 1)
    assert "the state is saved in run" in err and "--resume" in err
    done = len(Path("run/metrics.jsonl").read_text().splitlines())
    answer = run("pretrain", toys, "--out", "run", "--epochs", done + 2, "--resume", "--json")
    tree = json.loads(answer.out)
    assert tree["metrics"]["epoch"] == done + 2 and tree["resumed_after_epoch"] >= done
    rows = [json.loads(line)["epoch"] for line in Path("run/metrics.jsonl").read_text().splitlines()]
    assert rows == list(range(1, done + 3))


def test_evaluate_in_several_processes_saves_and_goes_on(toys: Path) -> None:
    settings = ("--epochs", 100000, "--set", "num_folds=2", "--seeds", 3, "--jobs", 2, *SMALL)
    err = stop_when(start("evaluate", toys, *settings), "runs/*/seed-*/metrics.jsonl", 2)
    assert "Run the same command again" in err
    assert len(list(Path().glob("runs/*/seed-*/checkpoint.safetensors"))) == 2


def test_an_interrupt_in_the_first_moments_is_quiet(tmp_path: Path) -> None:
    """Ctrl-C while the command is being imported; before Python reaches our code nothing can be done about it."""
    code = """if True:
        import adgcl.cli.entry as entry, os, signal, sys, threading, time

        def press(delay):
            while signal.getsignal(signal.SIGINT) is not entry._stop:
                time.sleep(0.001)
            time.sleep(delay)
            os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=press, args=(float(sys.argv[1]),), daemon=True).start()
        sys.argv = ["adgcl", "data", "list"]
        entry.run()
    """
    for delay in (0.0, 0.02, 0.05, 0.1):
        command = [sys.executable, "-c", code, str(delay)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert "Traceback" not in done.stderr and done.returncode in (0, 130), done.stderr
