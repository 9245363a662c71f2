"""A campaign: spoil one call of a command, call it again, and compare what it leaves with an undisturbed run's."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from adgcl.cli.main import main
from tests.crash.commands import COMMANDS, Command, inside, make_world
from tests.crash.faults import KINDS, POINTS, Fault

# What differs between two runs of the same command: the clock, and what is computed from files that hold its reading.
_CLOCK = {"seconds", "graphs_per_second", "peak_memory_mb", "created", "seal"}
_KILLED = -signal.SIGKILL


@dataclass(frozen=True)
class Trial:
    """What was done to a command, and what was wrong afterwards; nothing if all is well."""

    command: str
    harm: str
    problem: str = ""


class Campaign:
    """A world that commands run in, and what each leaves when nothing disturbs it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.world = folder, folder / "world"
        make_world(self.world)  # in this process, so that its copies have everything imported
        self.whole: dict[str, dict[str, Any]] = {}
        self.took: dict[str, float] = {}

    def run(self, name: str, number: int) -> Trial:
        """One trial: a function of its command and number, except for kills at a random moment."""
        command = COMMANDS[name]
        if name not in self.whole:
            self._undisturbed(name, command)
        rng = np.random.default_rng([sum(name.encode()), number])
        place = self._fresh("trial")
        harm, code, said = self._spoil(place, command, name, rng)
        problem = self._check(place, command, name, code, said)
        shutil.rmtree(place, ignore_errors=True)
        return Trial(name, harm, problem)

    def _undisturbed(self, name: str, command: Command) -> None:
        place = self._fresh("whole")
        started = time.monotonic()
        code, said = call(place, command.words)
        assert code == 0, f"{name}: {said}"
        self.took[name] = time.monotonic() - started
        self.whole[name] = left_by(place, command.leaves)
        assert self.whole[name], f"{name} leaves nothing"
        shutil.rmtree(place)

    def _fresh(self, name: str) -> Path:
        place = self.folder / name
        shutil.copytree(self.world, place)
        return place

    def _spoil(self, place: Path, command: Command, name: str, rng: np.random.Generator) -> tuple[str, int, str]:
        if rng.integers(3) == 0:
            seconds = float(rng.uniform(0, self.took[name]))
            return f"killed after {seconds:.2f} s", *call(place, command.words, kill_after=seconds)
        point, kind = POINTS[rng.integers(len(POINTS))], KINDS[rng.integers(len(KINDS))]
        fault = Fault(point, kind, int(rng.integers(1, 9)))
        return f"{kind} {point} (write {fault.number})", *call(place, command.words, fault)

    def _check(self, place: Path, command: Command, name: str, code: int, said: str) -> str:
        if code not in (0, 1, _KILLED) or "bug in adgcl" in said or "Traceback" in said:
            return f"exit {code}: {said}"
        # A finished command that is called again may say so, or that its result is there.
        code, said = call(place, command.second)
        if code != 0:
            return f"the next call: exit {code}: {said}"
        found, whole = left_by(place, command.leaves), self.whole[name]
        if found != whole:
            differing = [path for path in {*found, *whole} if found.get(path) != whole.get(path)]
            return f"other bytes in {sorted(differing)}"
        parts = [str(path.relative_to(place)) for path in place.rglob(".*.part")]
        # What is left of a file that no later call writes again is removed by whoever writes there next.
        return f"left behind: {parts}" if len(parts) > 1 else ""


def call(
    place: Path, words: Sequence[str], fault: Fault | None = None, kill_after: float | None = None
) -> tuple[int, str]:
    """The exit code of a command in a process of its own, and what it said."""
    log = place.parent / "log.txt"

    def work() -> int:
        with log.open("w", encoding="utf-8") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        sys.stdout, sys.stderr = io.TextIOWrapper(os.fdopen(1, "wb", 0)), io.TextIOWrapper(os.fdopen(2, "wb", 0))
        if fault is not None:
            fault.install()
        code = inside(place, lambda: main([*words, "--json"]))
        sys.stdout.flush()
        sys.stderr.flush()
        return code

    code = in_child(work, kill_after)
    return code, log.read_text(encoding="utf-8", errors="replace")[-1500:] if log.exists() else ""


def in_child(work: Callable[[], int], kill_after: float | None = None) -> int:
    """Do something in a copy of this process, which has imported everything already."""
    child = os.fork()
    if child == 0:
        code = 70
        try:
            code = work()
        finally:
            os._exit(code)
    if kill_after is not None:
        time.sleep(kill_after)
        os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def left_by(place: Path, patterns: Sequence[str]) -> dict[str, Any]:
    """What is in the files that a command leaves, without the clock."""
    files = {path for pattern in patterns for path in place.glob(pattern) if path.is_file()}
    return {str(path.relative_to(place)): _content(path) for path in sorted(files) if not path.name.startswith(".")}


def _content(path: Path) -> Any:
    content = path.read_bytes()
    if path.suffix == ".json":
        return _timeless(json.loads(content))
    if path.suffix == ".jsonl":
        return [_timeless(json.loads(line)) for line in content.splitlines()]
    if path.name == "trials.csv":
        return _timeless(list(csv.DictReader(content.decode().splitlines())))
    return content


def _timeless(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {key: _timeless(value) for key, value in tree.items() if key not in _CLOCK}
    return [_timeless(value) for value in tree] if isinstance(tree, list) else tree
