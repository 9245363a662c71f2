"""Curves: a Tracker that hands a run's numbers to a program for looking at them."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from contextlib import redirect_stdout
from math import isfinite
from pathlib import Path
from typing import Any, ClassVar, Protocol

from adgcl.core.config import Tree
from adgcl.core.registry import Registry

_AN_EPOCH = 20  # points of a curve; more cannot be told apart


class Report(Protocol):
    """What a Tracker hears about a step, as far as curves need it."""

    @property
    def metrics(self) -> Mapping[str, float]: ...

    @property
    def done(self) -> int: ...


class Curves(ABC):
    """Follows a run and gives its numbers, by name and step, to the program that a subclass is for.

    Steps are counted from the beginning of the run; a run that is resumed continues its curves. What such a program
    raises ends the curves and not the run.
    """

    # Its name, as users say it.
    name: ClassVar[str] = ""

    def __init__(self, folder: Path, run: str, settings: Tree) -> None:
        self.folder, self.run, self.settings = folder, run, settings
        self.step_now, self._between, self._open = 0, 1, False

    @abstractmethod
    def open(self, done: int) -> None:
        """Begin, or continue after `done` steps."""

    @abstractmethod
    def log(self, numbers: Mapping[str, float], step: int) -> None:
        """Keep these numbers at this step."""

    @abstractmethod
    def close(self) -> None:
        """Write what is left."""

    def start(self, epochs: int, steps: int, done: int) -> None:
        self.step_now, self._between = done, max(steps // _AN_EPOCH, 1)
        self._open = True
        self._safely(self.open, done)

    def step(self, report: Report) -> None:
        self.step_now = report.done
        if report.done % self._between == 0:
            self._log("step", report.metrics)

    def epoch(self, row: Mapping[str, Any]) -> None:
        self._log("epoch", row)

    def evaluated(self, step: int, scores: Mapping[str, float]) -> None:
        self._log("valid", scores)

    def stop(self) -> None:
        self._safely(self.close)
        self._open = False

    def _log(self, kind: str, row: Mapping[str, Any]) -> None:
        numbers = {f"{kind}/{name}": float(value) for name, value in row.items() if _is_number(value)}
        if numbers:
            self._safely(self.log, numbers, self.step_now)

    def _safely(self, do: Callable[..., None], *given: Any) -> None:
        if not self._open:
            return
        try:
            # What such programs print must not mix with results.
            with redirect_stdout(sys.stderr):
                do(*given)
        except Exception as error:
            self._open = False
            print(f"No more curves for {self.name}: {type(error).__name__}: {error}", file=sys.stderr)


TRACKERS: Registry[type[Curves]] = Registry("tracker", "adgcl.trackers")


def make_trackers(names: Iterable[str], folder: Path, settings: Tree) -> list[Curves]:
    """The trackers of a run that is kept in `folder`; one whose package is missing is an error before anything runs."""
    run = "/".join(folder.absolute().parts[-2:])
    return [TRACKERS[name](folder, run, settings) for name in dict.fromkeys(names)]


def flat(tree: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested settings by dotted name."""
    found: dict[str, Any] = {}
    for name, value in tree.items():
        found |= flat(value, f"{prefix}{name}.") if isinstance(value, Mapping) else {prefix + name: value}
    return found


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
