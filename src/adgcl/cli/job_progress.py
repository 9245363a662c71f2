"""Progress of many jobs on stderr: one bar for all, one for each that runs; or a line per job for a log."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any

from adgcl.cli.screen import Screen, console
from adgcl.reports.numbers import seconds_label

if TYPE_CHECKING:
    from adgcl.experiments.events import Event
    from adgcl.experiments.jobs import Job
    from adgcl.experiments.scheduling import Schedule


class JobBars:
    """Follows the events of a Schedule."""

    def __init__(self, screen: Screen, total: int) -> None:
        self.screen, self.total, self.done = screen, total, 0
        self.schedule: Schedule | None = None
        self._bars: Any = None
        self._tasks: dict[Job, Any] = {}

    def __enter__(self) -> JobBars:
        if self.screen.live:
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

            columns = (
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.fields[note]}"),
                TimeElapsedColumn(),
            )
            self._bars = Progress(*columns, console=console(stderr=True), transient=True)
            self._all = self._bars.add_task("all jobs", total=self.total, note="")
            self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bars is not None:
            self._bars.stop()

    def __call__(self, event: Event) -> None:
        """Take note of an event."""
        if event.kind == "progress":
            self._move(event)
            return
        if event.kind == "started":
            self._add(event.job)
            return
        self._remove(event.job)
        if event.kind == "put back":
            return
        self.done += 1
        if event.kind != "reused":
            self._say(event)
        self._overall()

    def _say(self, event: Event) -> None:
        result = event.job.result() if event.kind == "finished" else None
        what = f"finished in {seconds_label(result.seconds)}" if result else str(event.content or event.kind)
        text = f"[{self.done}/{self.total}] {event.job}: {what}{self._left()}"
        if self._bars is not None:
            self._bars.console.print(text, markup=False, soft_wrap=True)
        elif not self.screen.quiet:
            console(stderr=True).print(text, markup=False, soft_wrap=True)

    def _left(self) -> str:
        if self.schedule is None or self.done >= self.total:
            return ""
        return f"; about {seconds_label(self.schedule.seconds_left)} left"

    def _overall(self) -> None:
        if self._bars is not None:
            self._bars.update(self._all, completed=self.done, note=self._left().lstrip("; "))

    def _add(self, job: Job) -> None:
        if self._bars is not None:
            self._tasks[job] = self._bars.add_task(f"  {job}", total=None, note="")
            self._overall()

    def _move(self, event: Event) -> None:
        if self._bars is not None and event.job in self._tasks:
            message = event.content
            note = "  ".join(f"{name.replace('_', ' ')} {value:.3f}" for name, value in message.metrics.items())
            total = message.total or None
            self._bars.update(self._tasks[event.job], completed=message.done, total=total, note=note)

    def _remove(self, job: Job) -> None:
        if job in self._tasks:
            self._bars.remove_task(self._tasks.pop(job))
