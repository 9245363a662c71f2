"""Trackers: what happens beside training, such as a progress bar."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Protocol


@dataclass(frozen=True)
class StepReport:
    """One finished step: where the run is and what was measured."""

    epoch: int
    epochs: int
    step: int
    steps: int
    graphs: int
    metrics: dict[str, float] = field(default_factory=dict)


class Tracker(Protocol):
    """Anything that wants to follow a run."""

    def start(self, epochs: int, steps: int, done: int) -> None: ...
    def step(self, report: StepReport) -> None: ...
    def epoch(self, row: dict[str, Any]) -> None: ...
    def stop(self) -> None: ...


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
