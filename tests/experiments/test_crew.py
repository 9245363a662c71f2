"""What the command understands of the words of its workers."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import Any

from adgcl.core.files import write_json
from adgcl.experiments.crew import Crew, Report, make_schedule
from adgcl.experiments.planning import Request
from adgcl.experiments.schedule import Event
from adgcl.experiments.source import LoadedSource, Source
from adgcl.jobs.executor import ArrayExecutor, Done, End, Work
from tests.cli.conftest import write_tu
from tests.slurm.naps import Naps


class Script(ArrayExecutor):
    """Two workers that say what they are told to say, in this order, and make a result before the first word of it."""

    size, at_once, grace, free = 2, 1, 0.0, 2

    def __init__(self, job: Naps, lines: list[tuple[int, Report]]) -> None:
        super().__init__(2)
        self.job, self.lines = job, lines

    def follow(self, name: str) -> list[int]:
        return [0, 1]

    def start(self, key: Hashable, work: Work, *given: Any) -> None:
        raise AssertionError("Nobody needs another worker.")

    def ends(self, seconds: float) -> Iterator[tuple[Any, End]]:
        for number, report in self.lines:
            if report.kind in ("finished", "reused"):
                write_json(self.job.folder / "result.json", {"seed": 0, "evaluations": [], "seconds": 1.0})
            self.on_message(number, report)
        self.lines = []
        yield 0, Done()
        yield 1, Done()

    def stop(self) -> None: ...

    def close(self) -> None: ...

    place = Path()
    cancelling = "kill them"

    def __str__(self) -> str:
        return "two actors"


def told(tmp_path: Path, *lines: tuple[int, str]) -> list[str]:
    """The events of a command that hears these words of its workers about one job."""
    data = LoadedSource.of(Source(str(write_tu(tmp_path / "TOYS"))))
    job = Naps(Request("random_init"), data, 0, tmp_path / "runs")
    events: list[Event] = []
    crew = make_schedule([job], Script(job, [(who, Report(what, 0)) for who, what in lines]), on_event=events.append)
    assert isinstance(crew, Crew)
    crew.run()
    assert crew.gaps == {}
    return [event.kind for event in events if event.kind != "note"]


def test_a_job_is_finished_whoever_tells_of_its_result_first(tmp_path: Path) -> None:
    assert told(tmp_path, (0, "started"), (0, "finished"), (1, "reused")) == ["started", "finished"]


def test_a_worker_may_find_a_result_before_its_maker_has_told(tmp_path: Path) -> None:
    assert told(tmp_path, (1, "started"), (0, "reused"), (1, "finished")) == ["started", "finished"]


def test_what_was_there_before_any_worker_began_is_reused(tmp_path: Path) -> None:
    assert told(tmp_path, (0, "reused"), (1, "reused")) == ["reused"]
