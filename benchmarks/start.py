"""How long commands take to their first step, wall time with warm caches, as a user waits for it.

    python -m benchmarks --only start

A child process runs the command line and ends itself at the first step. Every command is tried once before, so that
loops are compiled, data is packed and files are in memory.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.timing import Measurement, within

_LIMIT = 3.5
_ROUNDS = 5


def measure() -> Iterator[Measurement]:
    """The best of some starts of each command."""
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        subprocess.run(["adgcl", "pretrain", "MUTAG", "--out", str(run), "--epochs", "1", "--quiet"], check=True)
        commands = {
            "pretrain": ["pretrain", "MUTAG", "--out", "{new}"],
            "evaluate, two processes": ["evaluate", "MUTAG", "--jobs", "2", "--work", "{new}", "--out", "{new}"],
            "embed": ["embed", str(run), "MUTAG", "--out", "{new}.parquet"],
        }
        for name, words in commands.items():
            times = [_first_step(words, Path(folder) / f"{name}-{i}") for i in range(_ROUNDS + 1)]
            yield within(f"start of adgcl {name}, to its first step", min(times[1:]), _LIMIT, "s")


def _first_step(words: list[str], new: Path) -> float:
    command = [sys.executable, "-m", "benchmarks.start", *(word.replace("{new}", str(new)) for word in words)]
    started = time.time()
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return float(done.stdout.split()[-1]) - started


def _watched(words: list[str]) -> None:
    """Run a command that ends at its first step, in this process or in one that it has started."""
    threading.Thread(target=_watch, daemon=True).start()
    from adgcl.cli.main import app

    sys.argv = ["adgcl", *words]
    app()


def _watch() -> None:
    """Wait until what takes steps, or hears of them, has been imported, and make it end the process."""
    places = {
        ("adgcl.training.trainer", "Trainer"): _ends_after("_step"),
        ("adgcl.methods.base", "Method"): _ends_after("embed"),
        ("adgcl.cli.job_progress", "JobBars"): _ends_with_news,
    }
    while places:
        for module, name in [place for place in places if hasattr(sys.modules.get(place[0]), place[1])]:
            places.pop((module, name))(getattr(sys.modules[module], name))
        time.sleep(0.002)


def _ends_after(name: str) -> Callable[[Any], None]:
    """Change a class so that the first call of one of its methods is the last."""

    def change(owner: Any) -> None:
        step = getattr(owner, name)

        def last(*given: Any) -> None:
            step(*given)
            _end()

        setattr(owner, name, last)

    return change


def _ends_with_news(bars: Any) -> None:
    """The same for steps that happen in other processes, which follow this one."""
    heard = bars.__call__

    def hear(self: Any, event: Any) -> None:
        if event.kind == "progress" and event.content.done >= 1:
            _end()
        heard(self, event)

    bars.__call__ = hear


def _end() -> None:
    print(time.time(), flush=True)
    os._exit(0)


if __name__ == "__main__":
    _watched(sys.argv[1:])
