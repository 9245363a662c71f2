"""Crew: workers that outlive the command and choose jobs themselves, while the command follows what they do.

Each worker runs a Schedule of all jobs in processes of its own machine. The locks of jobs keep two of them from doing
the same; what one has found impossible, the others do not try.
"""

from __future__ import annotations

import hashlib
import pickle
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from adgcl.core.errors import AdgclError, Interrupted
from adgcl.core.files import write_bytes
from adgcl.core.gaps import Gap
from adgcl.experiments.estimates import Pace
from adgcl.experiments.jobs import Job
from adgcl.experiments.schedule import Event, Schedule
from adgcl.jobs.executor import ArrayExecutor, End, Executor, Failed, Lost, Send, short_error
from adgcl.jobs.processes import Processes

_TICK = 0.5  # seconds between two looks at what workers have sent
_REPLACEMENTS = 3  # for each worker that vanishes
_FAREWELL = 5.0  # seconds that workers have to notice that all is done
_LATE = 60.0  # seconds that workers have to save when the user's time is up


def make_schedule(
    jobs: Sequence[Job],
    executor: Executor,
    limit: float | None = None,
    late: frozenset[Job] = frozenset(),
    on_event: Callable[[Event], None] = lambda event: None,
) -> Schedule:
    """A Schedule for jobs; a Crew if the workers of the executor outlive this command."""
    kind = Crew if isinstance(executor, ArrayExecutor) else Schedule
    return kind(jobs, executor, limit, late, on_event=on_event)


@dataclass(frozen=True)
class Report:
    """What a worker tells the command: an event of the job with this number, and for a gap also the error."""

    kind: str
    job: int
    content: Any = None
    error: Exception | None = None


class Crew(Schedule):
    """The command's view of the jobs that workers elsewhere do."""

    executor: ArrayExecutor  # type: ignore[mutable-override]

    def run(self) -> None:
        self._begin()
        self.executor.on_message = self._hear
        self._doing: dict[Job, int] = {}
        self._arriving: dict[Job, str] = {}
        self._spare = _REPLACEMENTS * self.executor.size
        try:
            if self.waiting:
                self._send_out()
            while self.waiting or self.running:
                self._listen(_TICK)
                self._arrive()
                if not self._members or self._left() <= -_LATE:
                    break
            self._dismiss()
        except Interrupted:
            raise
        except AdgclError:
            self.executor.stop()  # Nobody else would: the command ends here.
            raise
        finally:
            self.executor.close()
        self.waiting += self.running
        self.running.clear()
        for job in list(self.waiting):
            self._close(job, Gap("out of time" if self._left() <= 0 else "unfinished"))

    def interruption(self, kept: str) -> Interrupted:
        if not self._members:
            return super().interruption(kept)
        return Interrupted(
            f"The {self.executor} works on without this command.",
            f"Run the same command again to see how far it is. To end it: {self.executor.cancelling}",
        )

    def _begin(self) -> None:
        self._members: set[int] = set()
        super()._begin()

    def _send_out(self) -> None:
        """Follow the workers that are there already, or send out new ones."""
        self._members = set(self.executor.follow(_name(self.jobs)))
        if self._members:
            self._note(f"Following the {self.executor}, which an earlier command started.")
            return
        for number in range(min(self.executor.size, -(-len(self.waiting) // self.executor.at_once))):
            self._add(number)
        self._listen(0.0)  # submits them
        self._note(f"Submitted the {self.executor}: {len(self._members)} workers, logs in {self.executor.place}")

    def _listen(self, seconds: float) -> None:
        for number, end in self.executor.ends(seconds):
            self._at_end(number, end)

    def _dismiss(self) -> None:
        """Let workers end that find nothing more to do; those that still wait in the queue need not begin."""
        patience = time.monotonic() + _FAREWELL
        while self._members and time.monotonic() < patience:
            self._listen(_TICK)
        if self._members:
            self.executor.stop()

    def _add(self, number: int) -> None:
        deadline = None if self.limit is None else time.time() + self._left()
        late = [number for number, job in enumerate(self.jobs) if job in self.late]
        brief = Brief(list(self.jobs), late, self.executor.at_once, deadline, self.executor.grace, self.executor.place)
        self.executor.start(number, work_through, brief)
        self._members.add(number)

    def _hear(self, number: int, report: Report) -> None:
        job = self.jobs[report.job]
        if job not in self.waiting and job not in self.running:
            return  # It is settled, or this was told before the command came back.
        if report.kind in ("finished", "reused"):
            self._arriving.setdefault(job, report.kind)
        elif report.kind == "started" and job in self.waiting:
            self.waiting.remove(job)
            self.running[job] = Pace(self.estimates.seconds(job), time.monotonic())
            self._doing[job] = number
            self.on_event(Event("started", job))
        elif report.kind == "put back":
            self._back(job, report.content)
        elif report.kind == "progress":
            self._progress(job, report.content)
        elif report.kind == "gap":
            if report.error is not None:
                self.errors[job] = report.error
            self.running.pop(job, None)
            self._close(job, report.content)

    def _arrive(self) -> None:
        """Take in results; a shared folder may show them a little later than their worker's word."""
        for job, kind in list(self._arriving.items()):
            if job.result() is not None:
                del self._arriving[job]
                self.running.pop(job, None)
                # Another worker may have found the result before the one that made it has said so.
                self._finish(job, "finished" if job in self._doing else kind)

    def _at_end(self, number: int, end: End) -> None:
        """A worker has ended: what it was doing is free again, and one that vanished is replaced."""
        self._members.discard(number)
        self._arrive()
        for job in [job for job, by in self._doing.items() if by == number and job in self.running]:
            self._back(job, None)
        unfinished = bool(self.waiting or self.running) and self._left() > 0
        if isinstance(end, Lost) and unfinished and self._spare:
            self._spare -= 1
            self._note(f"{end.error.args[0]} Another takes its place.")
            self._add(max([number, *self._members, *self._doing.values()]) + 1)
        elif isinstance(end, Failed) and not self._members and unfinished:
            raise end.error

    def _back(self, job: Job, why: Exception | None) -> None:
        if self.running.pop(job, None) is not None:
            self._put_back(job, why)

    def _note(self, text: str) -> None:
        self.on_event(Event("note", self.jobs[0], text))


@dataclass(frozen=True)
class Brief:
    """What a worker is given: the jobs, which of them are `late`, how many run at once, when the user's time is up,
    how many seconds before its allocation ends it should save, and the folder that it shares with the others."""

    jobs: list[Job]
    late: list[int]
    at_once: int
    deadline: float | None
    grace: float
    place: Path


def work_through(brief: Brief, send: Send) -> None:
    """What a worker does: all jobs that no other does, until none is left; Interrupted if time runs out before that."""
    numbers = {job: number for number, job in enumerate(brief.jobs)}

    def tell(event: Event) -> None:
        if event.kind == "elsewhere" or (event.kind == "gap" and event.content.status in _NOT_FINAL):
            return
        error = schedule.errors.get(event.job) if event.kind == "gap" else None
        send(Report(event.kind, numbers[event.job], event.content, error and short_error(error)))

    deadline = brief.deadline or float("inf")
    schedule = Member(
        brief.jobs,
        Processes(brief.at_once, one_thread=True),
        None if brief.deadline is None else max(deadline - time.time(), 0.0),
        frozenset(brief.jobs[number] for number in brief.late),
        on_event=tell,
        margin=brief.grace,
        place=brief.place,
        numbers=numbers,
    )
    schedule.run()
    left = [job for job, gap in schedule.gaps.items() if gap.status in _NOT_FINAL]
    if time.time() < deadline and any(job.ready and not job.busy for job in left):
        raise Interrupted("The time of this allocation is up.")


_NOT_FINAL = ("out of time", "running elsewhere")


@dataclass(eq=False)
class Member(Schedule):
    """The Schedule of one worker: a job that another worker has found impossible is not tried again."""

    place: Path = Path()
    numbers: dict[Job, int] = field(default_factory=dict)

    def _can_start(self, job: Job) -> bool:
        with suppress(OSError):
            gap, error = cast(tuple[Gap, Exception | None], pickle.loads(self._verdict(job).read_bytes()))
            if error is not None:
                self.errors[job] = error
            super()._close(job, gap)
            return False
        return super()._can_start(job)

    def _close(self, job: Job, gap: Gap) -> None:
        if gap.status not in _NOT_FINAL:
            error = self.errors.get(job)
            write_bytes(self._verdict(job), pickle.dumps((gap, error and short_error(error))))
        super()._close(job, gap)

    def _verdict(self, job: Job) -> Path:
        return self.place / f"impossible-{self.numbers[job]}"


def _name(jobs: Sequence[Job]) -> str:
    """The same for the same jobs, so that the same command finds its workers again."""
    return hashlib.sha256("\n".join(sorted(job.description for job in jobs)).encode()).hexdigest()[:12]
