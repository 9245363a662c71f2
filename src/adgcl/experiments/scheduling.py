"""Scheduling: jobs on the workers there are, first seeds and cheap ones first, within the time there is."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import wait

from adgcl.core.gaps import Gap
from adgcl.experiments.columns import gap_of
from adgcl.experiments.estimates import Estimates
from adgcl.experiments.events import Event
from adgcl.experiments.jobs import Job
from adgcl.experiments.tasks import do_task, task_of
from adgcl.experiments.workers import Answer, Busy, Failed, Progress, Stopped, Worker

_TICK = 0.25  # seconds between two looks at the clock
_LOOK_AGAIN = 1.0  # seconds before a job that another process is at is looked at again
_PATIENCE = 120.0  # seconds that a stopped worker has for saving
_WORTH_STARTING = 90.0  # seconds that a job needs to get anywhere


@dataclass(eq=False)
class Schedule:
    """Runs jobs to their end; `gaps` says why some have no result.

    A job is not started if its estimate would pass the limit, unless it is longer than the limit itself: such a job
    starts when nothing else fits, is stopped at the limit, and goes on with the next command.
    """

    jobs: Sequence[Job]
    workers: int = 1
    limit: float | None = None
    late: frozenset[Job] = frozenset()
    estimates: Estimates = field(default_factory=Estimates)
    on_event: Callable[[Event], None] = lambda event: None
    gaps: dict[Job, Gap] = field(default_factory=dict)

    def run(self) -> None:
        self._begin()
        try:
            while self.waiting or self.running:
                if self._left() <= 0:
                    break
                idle = not self._assign() and not self.running
                if idle and not self._elsewhere:
                    break
                self._listen(_TICK)
        finally:
            self._stop()
        for job in list(self.waiting):
            self._close(job, Gap("running elsewhere" if job in self._elsewhere else "out of time"))

    @property
    def seconds_left(self) -> float:
        """An estimate of the time to the end."""
        now = time.monotonic()
        waiting = sum(self.estimates.seconds(job) for job in self.waiting)
        running = sum(max(seconds - (now - began), 0.0) for _, began, seconds in self.running.values())
        return (waiting + running) / max(min(self.workers, len(self.waiting) + len(self.running)), 1)

    def _begin(self) -> None:
        self.started = time.monotonic()
        self.waiting: list[Job] = []
        self.running: dict[Worker, tuple[Job, float, float]] = {}
        self._idle: list[Worker] = []
        self._elsewhere: dict[Job, float] = {}
        for job in self.jobs:
            if job.result() is not None:
                self.estimates.learn(job)
                self.on_event(Event("reused", job))
            else:
                self.waiting.append(job)

    def _left(self) -> float:
        return float("inf") if self.limit is None else self.started + self.limit - time.monotonic()

    def _assign(self) -> bool:
        """Give work to every worker without; say whether any was given."""
        given = False
        while len(self.running) < self.workers and (job := self._next()) is not None:
            worker = self._worker()
            self.waiting.remove(job)
            self.running[worker] = (job, time.monotonic(), self.estimates.seconds(job))
            worker.start(task_of(job))
            self.on_event(Event("started", job))
            given = True
        return given

    def _worker(self) -> Worker:
        """One that has nothing to do, or a new one."""
        while self._idle:
            worker = self._idle.pop()
            if worker.alive:
                return worker
            worker.end()
        return Worker(do_task, one_thread=self.workers > 1)

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
        """Whether nobody else does it or has done it, and what it needs is there; else it is put aside."""
        if job.source is not None and job.source in self.gaps:
            gap = self.gaps[job.source]
            self._close(job, Gap(gap.status, f"It needs {job.source}. {gap.detail}".strip()))
            return False
        if not job.ready or self._elsewhere.get(job, 0.0) > time.monotonic():
            return False
        if job.problem is not None:
            self._close(job, gap_of(job.problem, trained=False))
            return False
        busy = job.busy  # looked at first: a process that lets go between the two looks has left its result
        if job.result() is not None:
            self._finish(job, "reused")
            return False
        if busy:
            self._elsewhere[job] = time.monotonic() + _LOOK_AGAIN
            return False
        self._elsewhere.pop(job, None)
        return True

    def _listen(self, seconds: float) -> None:
        """Take in what workers answer within some time."""
        if not self.running:
            time.sleep(seconds)
            return
        by_pipe = {worker.pipe: worker for worker in self.running}
        for pipe in wait(list(by_pipe), seconds):
            worker = by_pipe[pipe]  # type: ignore[index]
            self._take(worker, worker.receive())

    def _take(self, worker: Worker, answer: Answer) -> None:
        job = self.running[worker][0]
        if isinstance(answer, Progress):
            self.on_event(Event("progress", job, answer.content))
            return
        del self.running[worker]
        if worker.alive:
            self._idle.append(worker)
        else:
            worker.end()
        if isinstance(answer, Failed):
            self._close(job, gap_of(answer.error, trained=job.has_begun))
        elif isinstance(answer, Stopped | Busy):
            if isinstance(answer, Busy):
                self._elsewhere[job] = time.monotonic() + _LOOK_AGAIN
            self.waiting.append(job)
            self.on_event(Event("put back", job))
        else:
            self._finish(job, "finished" if answer.fresh else "reused")

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

    def _stop(self) -> None:
        """Let the jobs that run save what they did, and end all workers."""
        for worker in self.running:
            worker.stop()
        patience = time.monotonic() + _PATIENCE
        while self.running and time.monotonic() < patience:
            self._listen(_TICK)
        for worker, (job, _, _) in list(self.running.items()):
            self.waiting.append(job)
            worker.end()
        self.running.clear()
        for worker in self._idle:
            worker.end()
