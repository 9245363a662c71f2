"""Schedule: run jobs on the available workers, first seeds and cheap jobs first, within the time limit."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from adgcl.core.errors import AdgclError, DataError, DataMissingError, Interrupted
from adgcl.core.gaps import Gap
from adgcl.experiments.estimates import Estimates, Pace
from adgcl.experiments.jobs import Job
from adgcl.jobs.allocation import allocation_seconds_left
from adgcl.jobs.executor import Busy, Done, End, Executor, Failed, Lost, Stopped
from adgcl.jobs.notices import heeding_notices
from adgcl.training.trackers import StepReport

_TICK = 0.25  # seconds between two checks of the clock
_LOOK_AGAIN = 1.0  # seconds before a job that another process is running is checked again
_PATIENCE = 120.0  # seconds that a stopped worker has to save
_WORTH_STARTING = 90.0  # seconds that a job needs to make any progress
_TRIES = 3  # of a job whose worker dies: it may be what kills them
_MARGIN = 60.0  # seconds before the end of an allocation that are left for saving


@dataclass(frozen=True)
class Event:
    """Something happened to a job: `started`, `progress`, `finished`, `reused`, `put back`, `elsewhere`, or a `gap`.

    A `note` is about no job in particular.
    """

    kind: str
    job: Job
    content: Any = None


@dataclass(eq=False)
class Schedule:
    """Runs jobs to their end; `gaps` says why some have no result, `errors` what they raised.

    A job is not started if its estimate would pass the limit, unless it is longer than the limit itself: such a job
    starts when nothing else fits, is stopped at the limit, and resumes with the next command. In an allocation of a
    batch system the limit is the allocation's, if that is nearer.
    """

    jobs: Sequence[Job]
    executor: Executor
    limit: float | None = None
    late: frozenset[Job] = frozenset()
    estimates: Estimates = field(default_factory=Estimates)
    on_event: Callable[[Event], None] = lambda event: None
    gaps: dict[Job, Gap] = field(default_factory=dict)
    errors: dict[Job, Exception] = field(default_factory=dict)
    margin: float = _MARGIN

    def run(self) -> None:
        self._begin()
        self._heed_allocation()
        with self._notices() as noticed:
            try:
                while (self.waiting or self.running) and not noticed():
                    if self._left() <= 0:
                        break
                    idle = not self._assign() and not self.running
                    if idle and not self._elsewhere:
                        break
                    self._listen(_TICK)
            finally:
                self._stop()
        if noticed():
            raise Interrupted("Stopped.")
        for job in list(self.waiting):
            self._close(job, Gap("running elsewhere" if job in self._elsewhere else "out of time"))

    def interruption(self, kept: str) -> Interrupted:
        """What to tell the user who stopped it; `kept` says where its work is."""
        return Interrupted(f"Stopped. {kept}".strip(), "Run the same command again to resume." if kept else None)

    @property
    def seconds_left(self) -> float:
        """An estimate of the time to the end."""
        now = time.monotonic()
        waiting = sum(self.estimates.seconds(job) for job in self.waiting)
        running = sum(pace.seconds_left(now) for pace in self.running.values())
        return (waiting + running) / max(min(self.executor.workers, len(self.waiting) + len(self.running)), 1)

    def _begin(self) -> None:
        self.started = time.monotonic()
        self.waiting: list[Job] = []
        self.running: dict[Job, Pace] = {}
        self._elsewhere: dict[Job, float] = {}
        self._losses: Counter[Job] = Counter()
        self.executor.on_message = self._progress
        for job in self.jobs:
            if job.result() is not None:
                self.estimates.learn(job)
                self.on_event(Event("reused", job))
            else:
                self.waiting.append(job)

    def _progress(self, job: Job, report: StepReport) -> None:
        if job in self.running and report.total:
            self.running[job].hear(report.done / report.total, time.monotonic())
        self.on_event(Event("progress", job, report))

    def _heed_allocation(self) -> None:
        left = allocation_seconds_left()
        if left is not None:
            left = max(left - self.margin, 0.0)
            self.limit = left if self.limit is None else min(left, self.limit)

    def _left(self) -> float:
        return float("inf") if self.limit is None else self.started + self.limit - time.monotonic()

    def _assign(self) -> bool:
        """Give work to every idle worker; return whether any was given."""
        given = False
        while self.executor.free > 0 and (job := self._next()) is not None:
            self.waiting.remove(job)
            self.running[job] = Pace(self.estimates.seconds(job), time.monotonic())
            self.on_event(Event("started", job))
            self.executor.start(job, *job.call)
            given = True
        return given

    def _next(self) -> Job | None:
        """The most urgent job that can start now."""
        left, overlong = self._left(), None
        for job in sorted(self.waiting, key=self._urgency):
            if not self._can_start(job):
                continue
            seconds = self.estimates.seconds(job)
            if seconds <= left:
                return job
            if overlong is None and self.limit is not None and seconds > self.limit and left >= _WORTH_STARTING:
                overlong = job
        return overlong

    def _urgency(self, job: Job) -> tuple[bool, int, float]:
        """Breadth first: every cell gets its first seed before any gets its second, and tuning comes last."""
        return job in self.late, job.seed, self.estimates.seconds(job)

    def _can_start(self, job: Job) -> bool:
        """Whether no other process runs or has finished it, and what it needs is ready; otherwise it is put aside."""
        if job.needs is not None and job.needs in self.gaps:
            gap = self.gaps[job.needs]
            self._close(job, Gap(gap.status, f"It needs {job.needs}. {gap.detail}".strip()))
            return False
        if not job.ready or self._elsewhere.get(job, 0.0) > time.monotonic():
            return False
        if job.problem is not None:
            self.errors[job] = job.problem
            self._close(job, gap_of(job.problem, trained=False))
            return False
        busy = job.busy  # checked first: a process that finishes between the two checks has left its result
        if job.result() is not None:
            self._finish(job, "reused")
            return False
        if busy:
            if job not in self._elsewhere:
                self.on_event(Event("elsewhere", job, job.worker))
            self._elsewhere[job] = time.monotonic() + _LOOK_AGAIN
            return False
        self._elsewhere.pop(job, None)
        return True

    def _listen(self, seconds: float) -> None:
        """Collect what ends within some time."""
        for job, end in self.executor.ends(seconds):
            self._take(job, end)

    def _take(self, job: Job, end: End) -> None:
        del self.running[job]
        if isinstance(end, Done):
            self._finish(job, "finished" if end.result else "reused")
        elif isinstance(end, Lost) and self._try_again(job):
            self._put_back(job, end.error)
        elif isinstance(end, Failed):
            self.errors[job] = end.error
            self._close(job, gap_of(end.error, trained=job.has_begun))
        else:
            if isinstance(end, Busy):
                self._elsewhere[job] = time.monotonic() + _LOOK_AGAIN
            self._put_back(job)
            if isinstance(end, Stopped) and self.executor.shares_signals:
                raise Interrupted("Stopped.")

    def _try_again(self, job: Job) -> bool:
        self._losses[job] += 1
        return self._losses[job] < _TRIES

    def _put_back(self, job: Job, why: Exception | None = None) -> None:
        self.waiting.append(job)
        self.on_event(Event("put back", job, why))

    def _finish(self, job: Job, kind: str) -> None:
        with suppress(ValueError):
            self.waiting.remove(job)
        self.estimates.learn(job)
        self.on_event(Event(kind, job))

    def _close(self, job: Job, gap: Gap) -> None:
        with suppress(ValueError):
            self.waiting.remove(job)
        self.gaps[job] = gap
        self.on_event(Event("gap", job, gap))

    @contextmanager
    def _notices(self) -> Iterator[Callable[[], bool]]:
        """Heed a batch system that asks this process to end; work in this process does so itself."""
        if self.executor.shares_signals:
            yield lambda: False
        else:
            with heeding_notices() as noticed:
                yield noticed

    def _stop(self) -> None:
        """Let running jobs save their progress, and end all workers."""
        try:
            self.executor.stop()
            patience = time.monotonic() + _PATIENCE
            while self.running and time.monotonic() < patience:
                self._listen(_TICK)
        finally:
            self.waiting += self.running
            self.running.clear()
            self.executor.close()


def gap_of(error: Exception, trained: bool) -> Gap:
    """A job's error as the reason for its gap; unsuitable data means that the job does not apply."""
    if isinstance(error, DataMissingError):
        return Gap("no data", str(error))
    message = (str(error).strip() or type(error).__name__).splitlines()[0]
    if not isinstance(error, AdgclError):
        message = f"{type(error).__name__}: {message}"
    if isinstance(error, DataError) and not trained:
        return Gap("not applicable", message)
    return Gap("failed", message)
