"""Progress on stderr: bars on a terminal, occasional lines in a log."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Any

from adgcl.cli.screen import Screen, console
from adgcl.reports.numbers import seconds_label

_BETWEEN_LINES = 30.0  # seconds between two log lines


class Bars:
    """Named bars that appear with their first report and disappear when full.

    Usable wherever a progress function is expected. Nothing is drawn between two pieces of work, so that others, such
    as a Trainer's own bar, have the terminal to themselves.
    """

    def __init__(self, screen: Screen) -> None:
        self.screen = screen
        self._bars: Any = None
        self._tasks: dict[str, Any] = {}
        self._began: dict[str, tuple[float, float]] = {}

    def __enter__(self) -> Bars:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def __call__(self, what: str, done: int, total: int | None = None) -> None:
        """How far a piece of work called `what` has got."""
        self.update(what, done, total)

    def update(self, what: str, done: int, total: int | None, note: str = "") -> None:
        full = total is not None and done >= total
        if not self.screen.live:
            self._line(what, done, total)
            return
        if full and what not in self._tasks:
            return
        if self._bars is None:
            self._start()
        if what not in self._tasks:
            self._tasks[what] = self._bars.add_task(what, total=total, note="")
        self._bars.update(self._tasks[what], completed=done, total=total, note=note)
        if full:
            self._bars.remove_task(self._tasks.pop(what))
        if not self._tasks:
            self._stop()

    def _line(self, what: str, done: int, total: int | None) -> None:
        """An occasional log line with the time left."""
        now = time.monotonic()
        began, last = self._began.setdefault(what, (now, now))
        if now - last < _BETWEEN_LINES:
            return
        self._began[what] = (began, now)
        left = f", about {seconds_label((now - began) / done * (total - done))} left" if total and done else ""
        self.screen.aside(f"{what}: {done:,}{f' of {total:,}' if total else ''}{left}")

    def _start(self) -> None:
        from rich.progress import (
            BarColumn,
            Progress,
            ProgressColumn,
            SpinnerColumn,
            Task,
            TaskProgressColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )
        from rich.text import Text

        class Rate(ProgressColumn):
            """How many are done in a second, once that is known."""

            def render(self, task: Task) -> Text:
                return Text(f"{task.speed:,.0f}/s" if task.speed and task.speed >= 1 else "")

        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TaskProgressColumn(),
            Rate(),
            TextColumn("{task.fields[note]}", markup=False),
        )
        self._bars = Progress(
            *columns, TimeElapsedColumn(), "<", TimeRemainingColumn(), console=console(stderr=True), transient=True
        )
        self._bars.start()

    def _stop(self) -> None:
        if self._bars is not None:
            self._bars.stop()
        self._bars, self._tasks = None, {}

    def embedded(self, done: int, total: int) -> None:
        self.update("embed", done, total)

    def predicted(self, done: int, total: int) -> None:
        self.update("predict", done, total)

    def judged(self, done: int, total: int) -> None:
        self.update("evaluate", done, total)
