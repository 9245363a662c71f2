"""A small table: rings and chains, tiny networks, and workers that need no process of their own."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from adgcl.experiments import scheduling
from adgcl.experiments.reproduction import Reproduction, Request, open_table
from adgcl.experiments.workers import Progress, _answer
from adgcl.published import layout
from tests.cli.conftest import write_tu

SMALL = ("encoder.hidden_dim=8", "encoder.num_layers=2", "training.epochs=2", "num_folds=2", "evaluate_every=1")


class InlineWorker:
    """Does its work at once, in this process."""

    alive = True

    def __init__(self, work: Any, one_thread: bool) -> None:
        self.work = work
        self.pipe, self.theirs = multiprocessing.Pipe()

    def start(self, task: Any) -> None:
        self.theirs.send(_answer(self.work, task, lambda content: self.theirs.send(Progress(content))))

    def receive(self) -> Any:
        return self.pipe.recv()

    def stop(self) -> None:
        pass

    def end(self) -> None:
        self.pipe.close()
        self.theirs.close()


@pytest.fixture(autouse=True)
def inline(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.setattr(scheduling, "Worker", InlineWorker)
    monkeypatch.setenv("ADGCL_CACHE", str(tmp_path_factory.getbasetemp() / "packed"))


@pytest.fixture
def toys(tmp_path: Path) -> Path:
    return write_tu(tmp_path / "TOYS")


Make = Callable[..., Reproduction]


@pytest.fixture
def table(toys: Path, tmp_path: Path) -> Make:
    """`table("adgcl", seeds=2)`: a table of these rows on the small graphs."""

    def make(*methods: str, **changes: Any) -> Reproduction:
        wanted: dict[str, Any] = {
            "table": layout("table1-tu"), "datasets": (str(toys),), "methods": methods, "seeds": 1, "jobs": 1,
            "assignments": SMALL, "work": tmp_path / "runs", "out": tmp_path / "results",
        }  # fmt: skip
        return open_table(Request(**{**wanted, **changes}))

    return make
