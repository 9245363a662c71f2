"""Trackers: what happens beside training, such as a progress bar."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Protocol

_BETWEEN_MESSAGES = 0.2  # seconds


@dataclass(frozen=True)
class StepReport:
    """One finished step: where the run is and what was measured."""

    epoch: int
    epochs: int
    step: int
    steps: int
    graphs: int
    metrics: dict[str, float] = field(default_factory=dict)

    @property
    def done(self) -> int:
        """Steps since the beginning of the run."""
        return (self.epoch - 1) * self.steps + self.step

    @property
    def total(self) -> int:
        """Steps of the whole run."""
        return self.epochs * self.steps


class Tracker(Protocol):
    """Anything that wants to follow a run."""

    def start(self, epochs: int, steps: int, done: int) -> None: ...
    def step(self, report: StepReport) -> None: ...
    def epoch(self, row: dict[str, Any]) -> None: ...
    def stop(self) -> None: ...


class Messenger:
    """Sends how far a run is, a few times a second: for whoever started it elsewhere."""

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

    def stop(self) -> None:
        pass


class ProgressBar:
    """A bar with loss, drop ratio, graphs per second and time left; silent when nobody looks."""

    def __init__(self, title: str, enabled: bool | None = None) -> None:
        self.title = title
        self.enabled = sys.stderr.isatty() if enabled is None else enabled
        self._bar: Any = None

    def start(self, epochs: int, steps: int, done: int) -> None:
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
        self._graphs, self._note = 0, ""

    def step(self, report: StepReport) -> None:
        if self._bar is None:
            return
        self._graphs += report.graphs
        elapsed = self._bar.tasks[self._task].elapsed or 1e-9
        numbers = "  ".join(f"{name} {value:.3f}" for name, value in report.metrics.items())
        note = f"epoch {report.epoch}/{report.epochs}  {numbers}  {self._graphs / elapsed:,.0f} graphs/s"
        self._bar.update(self._task, advance=1, note=note)

    def epoch(self, row: dict[str, Any]) -> None:
        pass

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
