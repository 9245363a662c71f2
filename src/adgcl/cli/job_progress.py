"""Progress of many jobs on stderr: one bar for all, one per running job; or occasional lines for a log."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from adgcl.cli.many_bars import ManyBars
from adgcl.cli.screen import Screen
from adgcl.core.gaps import Gap
from adgcl.experiments.evaluation import Watcher
from adgcl.reports.numbers import seconds_label

if TYPE_CHECKING:
    from adgcl.experiments.jobs import Job
    from adgcl.experiments.schedule import Event, Schedule

_BETWEEN_LINES = 30.0  # seconds between two log lines about a running job


class JobBars(ManyBars, Watcher):
    """Follows the events of a Schedule."""

    def __init__(self, screen: Screen) -> None:
        super().__init__(screen, "all jobs")
        self.total, self.done = 0, 0
        self.schedule: Schedule | None = None
        self._tasks: dict[Job, Any] = {}
        self._notes: set[str] = set()

    def begin(self, schedule: Schedule) -> None:
        self.schedule, self.total, self.done = schedule, len(schedule.jobs), 0
        if self._bars is not None:
            self._bars.update(self._all, total=self.total, completed=0)

    def __call__(self, event: Event) -> None:
        """Handle an event."""
        if event.kind == "progress":
            self._move(event)
            return
        if event.kind == "note":
            self.tell(event.content)
            return
        if event.kind == "elsewhere":
            self.tell(f"{event.job}: {event.content or 'another process'} is working on it; waiting for the result.")
            return
        if event.kind == "started":
            self._add(event.job)
            return
        self._remove(event.job)
        if event.kind == "put back":
            if event.content is not None:
                self.tell(f"{event.job}: {event.content.args[0]} It is tried again, from its last checkpoint.")
            return
        self.done += 1
        if event.kind != "reused" and not _out_of_time(event):
            self._say(event)
        self._overall()

    def _say(self, event: Event) -> None:
        result = event.job.result() if event.kind == "finished" else None
        what = f"finished in {seconds_label(result.seconds)}" if result else str(event.content or event.kind)
        text = f"[{self.done}/{self.total}] {event.job}: {what}{self._left()}"
        self.tell(text)

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
        report = event.content
        if report.note:
            self._note(report.note)
            return
        note = "  ".join(f"{name.replace('_', ' ')} {value:.3f}" for name, value in report.metrics.items())
        if self._bars is not None and event.job in self._tasks:
            task = self._tasks[event.job]
            self._bars.update(task, completed=report.done, total=report.total or None, note=note)
        elif self._bars is None and time.monotonic() - self._last_line >= _BETWEEN_LINES:
            self.tell(f"{event.job}: epoch {report.epoch} of {report.epochs}  {note}{self._left()}")

    def _note(self, text: str) -> None:
        """Something that takes time, said once however many jobs say it."""
        if text not in self._notes:
            self._notes.add(text)
            self.tell(text)

    def _remove(self, job: Job) -> None:
        if job in self._tasks:
            self._bars.remove_task(self._tasks.pop(job))


def _out_of_time(event: Event) -> bool:
    """Whether a job is only left for another time: all that remain are when time is up, and the table says so."""
    return isinstance(event.content, Gap) and event.content.status == "out of time"
