"""Which job comes next, and what the clock has to say about it."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from adgcl.core.errors import AdgclError, Interrupted
from adgcl.core.locks import BusyError
from adgcl.experiments import schedule as module
from adgcl.experiments.schedule import Schedule
from adgcl.jobs.executor import Done, End, Lost
from adgcl.jobs.inline import Inline
from adgcl.training.trackers import StepReport


@dataclass(eq=False)
class FakeJob:
    """A job that takes no time; `busy` says how often another process is found at it."""

    name: str
    seconds: float = 1.0
    seed: int = 0
    needs: Any = None
    busy_times: int = 0
    error: Exception | None = None
    runs: list[str] = field(default_factory=list)
    finished: bool = False
    has_begun: bool = True
    worker: Any = None
    done_elsewhere: bool = False
    problem: Exception | None = None

    def __str__(self) -> str:
        return self.name

    @property
    def call(self) -> tuple[Any, ...]:
        return do, self

    @property
    def ready(self) -> bool:
        return self.needs is None or self.needs.finished

    @property
    def busy(self) -> bool:
        self.busy_times -= 1
        return self.busy_times >= 0

    def result(self) -> Any:
        return self if self.finished else None


class FakeEstimates:
    def learn(self, job: FakeJob) -> None: ...

    def seconds(self, job: FakeJob) -> float:
        return job.seconds


def do(job: FakeJob, send: Any) -> bool:
    if job.error is not None:
        error, job.error = job.error, None
        raise error
    found, job.finished = job.done_elsewhere, True
    return not found


@pytest.fixture(autouse=True)
def fakes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LOOK_AGAIN", 0.01)
    monkeypatch.setattr(module, "_TICK", 0.01)


def run(jobs: list[FakeJob], **options: Any) -> tuple[list[str], dict[str, str]]:
    """The order in which jobs started, and the gaps by name."""
    order: list[str] = []
    schedule = Schedule(
        jobs,
        Inline(),
        estimates=FakeEstimates(),
        on_event=lambda e: order.append(e.job.name) if e.kind == "started" else None,
        **options,
    )
    schedule.run()
    return order, {job.name: str(gap) for job, gap in schedule.gaps.items()}


def test_first_seeds_first_then_cheap_ones_and_tuning_last():
    tuning = FakeJob("tuning", 0.1)
    jobs = [FakeJob("long", 9), FakeJob("second", 1, seed=1), tuning, FakeJob("short", 1)]
    assert run(jobs, late=frozenset({tuning}))[0] == ["short", "long", "second", "tuning"]


def test_the_time_left_follows_what_a_job_reports(monkeypatch: pytest.MonkeyPatch) -> None:
    """A job that is estimated to take a second, and reports a twentieth of its steps every minute."""
    clock = [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: clock[0])

    def slowly(job: FakeJob, send: Any) -> bool:
        for step in range(1, 11):
            clock[0] += 60
            send(StepReport(epoch=1, epochs=1, step=step, steps=20, graphs=1))
        job.finished = True
        return True

    monkeypatch.setattr(FakeJob, "call", property(lambda job: (slowly, job)))
    left: list[float] = []
    schedule = Schedule(
        [FakeJob("slow")],
        Inline(),
        estimates=FakeEstimates(),
        on_event=lambda e: left.append(schedule.seconds_left) if e.kind == "progress" else None,
    )
    schedule.run()
    assert left == [0.0] + [pytest.approx(60 * (20 - step)) for step in range(2, 11)]


def test_what_others_need_comes_before_them():
    source = FakeJob("source", 9)
    assert run([FakeJob("needs", 1, needs=source), source])[0] == ["source", "needs"]


def test_a_job_that_would_pass_the_limit_does_not_start():
    order, gaps = run([FakeJob("fits", 50), FakeJob("done", 80, finished=True), FakeJob("long", 150)], limit=60)
    assert order == ["fits"] and gaps == {"long": "out of time"}


def test_a_job_longer_than_the_limit_starts_when_nothing_else_fits():
    order, gaps = run([FakeJob("short", 50), FakeJob("overlong", 500)], limit=100)
    assert order == ["short", "overlong"] and gaps == {}


def test_failures_of_many_kinds_are_gaps():
    source = FakeJob("source", error=AdgclError("broken"))
    order, gaps = run(
        [source, FakeJob("needs", needs=source), FakeJob("fine", 2), FakeJob("bug", error=ValueError("x"))]
    )
    assert gaps == {
        "source": "failed: broken", "needs": "failed: It needs source. broken", "bug": "failed: ValueError: x",
    }  # fmt: skip
    assert "fine" in order


def test_settings_that_turn_out_wrong_are_a_gap():
    order, gaps = run([FakeJob("wrong", problem=AdgclError("no such value")), FakeJob("fine")])
    assert order == ["fine"] and gaps == {"wrong": "failed: no such value"}


def test_a_job_that_another_process_is_at_is_looked_at_again():
    order, gaps = run(
        [FakeJob("elsewhere", 0.1, busy_times=2), FakeJob("mine", 1), FakeJob("race", 2, error=BusyError("x"))]
    )
    assert order[0] == "mine" and sorted(order) == ["elsewhere", "mine", "race", "race"] and gaps == {}


def test_a_job_that_another_process_finishes_is_not_run():
    other = FakeJob("other", 5, busy_times=1)
    mine = FakeJob("mine", 1)
    mine.__dict__["finished"] = False
    order: list[str] = []

    def note(event: Any) -> None:
        order.append(f"{event.kind} {event.job}")
        if event.kind == "finished":
            other.finished = True

    Schedule([other, mine], Inline(), estimates=FakeEstimates(), on_event=note).run()
    assert "started other" not in order and "reused other" in order


def test_what_was_finished_while_a_worker_started_is_not_called_our_own():
    kinds = []
    Schedule(
        [FakeJob("late", done_elsewhere=True)],
        Inline(),
        estimates=FakeEstimates(),
        on_event=lambda e: kinds.append(e.kind),
    ).run()
    assert kinds == ["started", "reused"]


class Dying(Inline):
    """An executor whose workers die some times before one lives."""

    shares_signals = False

    def __init__(self, deaths: int) -> None:
        super().__init__()
        self.deaths, self.started = deaths, 0

    def start(self, key: Any, work: Any, *given: Any) -> None:
        self.started += 1
        super().start(key, work, *given)

    def ends(self, seconds: float) -> Iterator[tuple[Any, End]]:
        for key, end in super().ends(seconds):
            dies = isinstance(end, Done) and self.started <= self.deaths
            key.finished = not dies
            yield key, Lost(AdgclError("The node is gone.")) if dies else end


@pytest.mark.parametrize(("deaths", "started", "gaps"), [(2, 3, {}), (9, 3, {"job": "failed: The node is gone."})])
def test_a_job_whose_worker_dies_is_tried_again_but_not_for_ever(deaths: int, started: int, gaps: Any) -> None:
    executor, told = Dying(deaths), []
    schedule = Schedule(
        [FakeJob("job")], executor, estimates=FakeEstimates(), on_event=lambda e: told.append((e.kind, str(e.content)))
    )
    schedule.run()
    assert executor.started == started and {j.name: str(g) for j, g in schedule.gaps.items()} == gaps
    assert told.count(("put back", "The node is gone.")) == 2


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
@pytest.mark.parametrize("notice", ["SIGTERM", "SIGUSR1", "SIGUSR2"])
def test_a_notice_of_the_batch_system_stops_it_and_the_old_handlers_come_back(notice: str) -> None:
    number = getattr(signal, notice)
    before = signal.getsignal(number)
    executor, order = Dying(0), []

    def note(event: Any) -> None:
        order.append(f"{event.kind} {event.job}")
        if event.kind == "finished":
            signal.raise_signal(number)

    with pytest.raises(Interrupted):
        Schedule([FakeJob("first"), FakeJob("second", 2)], executor, estimates=FakeEstimates(), on_event=note).run()
    assert order == ["started first", "finished first"] and signal.getsignal(number) == before


def test_an_allocation_that_ends_soon_is_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "allocation_seconds_left", lambda: 100.0)
    for limit, order in ((1000, ["short", "long"]), (None, ["short", "long"]), (30, ["short"])):
        jobs = [FakeJob("short", 10), FakeJob("long", 39), FakeJob("too long", 41)]
        assert run(jobs, limit=limit)[0] == order, "a minute of the allocation is left for saving"
