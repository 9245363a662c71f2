"""Trackers: what runs alongside training, such as a progress bar."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Protocol

_BETWEEN_MESSAGES = 0.2  # seconds
_BETWEEN_LINES = 30.0  # seconds between two lines of a log


@dataclass(frozen=True)
class StepReport:
    """One finished step: where the run is and what was measured; or a `note` about what it is doing instead."""

    epoch: int
    epochs: int
    step: int
    steps: int
    graphs: int
    metrics: dict[str, float] = field(default_factory=dict)
    note: str = ""

    @property
    def done(self) -> int:
        """Steps since the beginning of the run."""
        return (self.epoch - 1) * self.steps + self.step

    @property
    def total(self) -> int:
        """Steps of the whole run."""
        return self.epochs * self.steps


class Tracker(Protocol):
    """Anything that follows a run; `epoch` gets what was measured, and the method's advice under `advice`.

    A tracker may also have `note(text)`, which is called when something unusual takes time, and
    `evaluated(step, scores)`, which is called whenever validation data has scored what was learned so far; `step` is
    the epoch, or how many folds are done where each trains a network of its own.
    """

    def start(self, epochs: int, steps: int, done: int) -> None: ...
    def step(self, report: StepReport) -> None: ...
    def epoch(self, row: dict[str, Any]) -> None: ...
    def stop(self) -> None: ...


def tell(trackers: Iterable[Tracker], text: str) -> None:
    """Give a note to the trackers that take notes."""
    for tracker in trackers:
        if hasattr(tracker, "note"):
            tracker.note(text)


def tell_scores(trackers: Iterable[Tracker], step: int, scores: Mapping[str, float]) -> None:
    """Give validation scores, by name, to the trackers that take them; test scores never come this way."""
    for tracker in trackers:
        if hasattr(tracker, "evaluated"):
            tracker.evaluated(step, scores)


class Messenger:
    """Sends a run's progress, a few times a second, to whatever started it."""

    def __init__(self, send: Callable[[StepReport], None]) -> None:
        self.send, self.last = send, 0.0

    def start(self, epochs: int, steps: int, done: int) -> None:
        if steps:
            self.send(StepReport(done // steps + 1, epochs, done % steps, steps, 0))

    def step(self, report: StepReport) -> None:
        now = time.monotonic()
        if report.done == report.total or now - self.last > _BETWEEN_MESSAGES:
            self.last = now
            self.send(report)

    def epoch(self, row: dict[str, Any]) -> None:
        pass

    def note(self, text: str) -> None:
        self.send(StepReport(0, 0, 0, 0, 0, note=text))

    def stop(self) -> None:
        pass


class Adviser:
    """Shows the method's advice once, when it first has any."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self.say, self.said = say, False

    def start(self, epochs: int, steps: int, done: int) -> None:
        pass

    def step(self, report: StepReport) -> None:
        pass

    def epoch(self, row: dict[str, Any]) -> None:
        if row.get("advice") and not self.said:
            self.said = True
            self.say(f"Epoch {row['epoch']}: {row['advice']}")

    def stop(self) -> None:
        pass


class ProgressBar:
    """A bar with loss, drop ratio, graphs per second and time left; for a log, an occasional line through `say`."""

    def __init__(self, title: str, enabled: bool | None = None, say: Callable[[str], None] | None = None) -> None:
        self.title, self.say = title, say
        self.enabled = sys.stderr.isatty() if enabled is None else enabled
        self._bar: Any = None

    def start(self, epochs: int, steps: int, done: int) -> None:
        self._graphs, self._first = 0, done
        self._began = self._last_line = time.monotonic()
        if not self.enabled:
            return
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        columns = (
            "{task.description}",
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[note]}"),
            TimeElapsedColumn(),
            "<",
            TimeRemainingColumn(),
        )
        self._bar = Progress(*columns, console=Console(stderr=True))
        self._bar.start()
        self._task = self._bar.add_task(self.title, total=epochs * steps, completed=done, note="")

    def step(self, report: StepReport) -> None:
        self._graphs += report.graphs
        now = time.monotonic()
        numbers = "  ".join(f"{name} {value:.3f}" for name, value in report.metrics.items())
        rate = f"{self._graphs / max(now - self._began, 1e-9):,.0f} graphs/s"
        note = f"epoch {report.epoch}/{report.epochs}  {numbers}  {rate}"
        if self._bar is not None:
            self._bar.update(self._task, advance=1, note=note)
        elif self.say is not None and now - self._last_line >= _BETWEEN_LINES:
            self._last_line = now
            left = (now - self._began) / (report.done - self._first) * (report.total - report.done)
            self.say(f"{self.title}: {note}, about {left / 60:.0f} min left")

    def epoch(self, row: dict[str, Any]) -> None:
        pass

    def note(self, text: str) -> None:
        if self._bar is not None:
            self._bar.console.print(text, markup=False, soft_wrap=True)
        elif self.say is not None:
            self.say(text)

    def stop(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
