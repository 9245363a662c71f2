"""A campaign: bend a valid input, use it, and sort what happens; every input is a function of target and number."""

from __future__ import annotations

import shutil
import signal
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from adgcl.core.errors import AdgclError
from tests.fuzz.targets import TARGETS

SECONDS = 10.0  # of processor time, so that a busy machine finds the same


@dataclass
class Summary:
    """How many inputs worked and how many were refused; what failed, by target and number."""

    counts: Counter[str] = field(default_factory=Counter)
    failures: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, number: int, outcome: str, detail: str) -> None:
        self.counts[outcome] += 1
        if outcome == "failed":
            self.failures[f"{name} {number}"] = detail


def run(name: str, numbers: range, folder: Path) -> Summary:
    """Use some bent inputs of a target, in this process."""
    made, place = folder / "valid", folder / "bent"
    made.mkdir(parents=True)
    target = TARGETS[name]
    target.make(made)
    shutil.copytree(made, place)
    target.use(place)  # Imports take longer than any input may; and what is valid must work.
    summary = Summary()
    for number in numbers:
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(made, place)
        target.bend(place, np.random.default_rng([sum(name.encode()), number]))
        (folder / "at").write_text(f"{name} {number}")  # for whoever finds that the process has died
        summary.add(name, number, *_outcome(target.use, place))
    return summary


def _outcome(use: Any, place: Path) -> tuple[str, str]:
    started = time.process_time()
    try:
        with _alarm(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            use(place)
        outcome = "worked", ""
    except AdgclError as error:
        outcome = "refused", error.message
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        outcome = "failed", "".join(traceback.format_exception(error)[-4:])
    took = time.process_time() - started
    return ("failed", f"took {took:.1f} s") if took > SECONDS else outcome


@contextmanager
def _alarm() -> Iterator[None]:
    def ring(number: int, frame: Any) -> None:
        raise TimeoutError(f"more than {SECONDS:g} s")

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
