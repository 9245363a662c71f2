"""`adgcl pretrain` in several processes: one voice, one folder, and no process left waiting."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from adgcl.training.checkpoints import load_checkpoint
from tests.cli.conftest import SMALL, Run
from tests.parallel.launch import finished, start

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")


def wait_for(path: Path, process: subprocess.Popen[str]) -> None:
    limit = time.monotonic() + 90
    while not path.exists():
        if process.poll() is not None or time.monotonic() > limit:
            process.kill()
            pytest.fail(f"{path} was not made: {process.communicate()}")
        time.sleep(0.05)


def test_only_the_first_process_speaks_and_the_run_can_be_used(run: Run, toys: Path) -> None:
    command = ("adgcl", "pretrain", toys, "--out", "run", "--epochs", 2, "--json", *SMALL)
    (code, out, err), (other, *silence) = finished(start(*command))
    assert code == other == 0, err
    assert json.loads(out)["metrics"]["epoch"] == 2 and silence == ["", ""]
    assert sorted(path.name for path in Path("run").iterdir() if path.name[0] != ".") == [
        "checkpoint.safetensors",
        "config.json",
        "metrics.jsonl",
    ]
    assert run("embed", "run", toys, "--out", "rows.csv").code == 0
    answer = run("pretrain", toys, "--out", "run", "--epochs", 3, "--resume")
    assert answer.code == 1 and "started with 2 processes" in answer.err


def test_a_process_that_is_killed_is_noticed(toys: Path) -> None:
    first, second = started = start("adgcl", "pretrain", toys, "--out", "run", "--epochs", 100000, *SMALL)
    wait_for(Path("run/metrics.jsonl"), first)
    second.send_signal(signal.SIGKILL)
    (code, _, err), _ = finished(started)
    assert code == 1 and "ended without a word" in err and "--resume" in err and "Traceback" not in err


def test_processes_with_different_settings_are_refused_once(toys: Path) -> None:
    command = ["adgcl", "pretrain", toys, "--out", "run", "--epochs", 1, *SMALL]
    ends = finished(start(*command, differing={1: [*command, "--seed", 5]}))
    errors = "".join(err for _, _, err in ends)
    assert [code for code, _, _ in ends] == [1, 1]
    assert errors.count("Error:") == 1 and "differ in their settings" in errors and "Traceback" not in errors


def test_torchrun_saves_on_ctrl_c(toys: Path) -> None:
    launcher = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--standalone"]
    command = [*launcher, "-m", "adgcl", "pretrain", str(toys), "--out", "run", "--epochs", "100000", *SMALL]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_for(Path("run/metrics.jsonl"), process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=90)
    assert process.returncode != 0 and err.count("the state is saved in run") == 1
    saved = load_checkpoint(Path("run/checkpoint.safetensors"))
    assert saved.position.epoch >= 1 and saved.data["processes"] == 2
