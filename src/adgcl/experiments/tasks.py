"""Tasks: a job as it is handed to a worker, small enough to send, with everything needed to do it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adgcl.data.dataset import Dataset
from adgcl.experiments.jobs import Job
from adgcl.experiments.source import Source
from adgcl.protocols.judging import SeedTask, run_or_read
from adgcl.protocols.unsupervised import UnsupervisedConfig
from adgcl.training.run_config import DataConfig, RunConfig


@dataclass(frozen=True)
class Task:
    """Where the data are, not the data: a worker reads them itself, from the packed file."""

    source: Source
    run: RunConfig
    protocol: UnsupervisedConfig
    folder: Path


def task_of(job: Job) -> Task:
    return Task(job.column.source, job.plan.run, job.plan.protocol, job.folder)


def do_task(task: Task, send: Callable[[Any], None]) -> bool:
    """Train and judge one seed; its result is in its folder when this returns. False: it was there already."""
    dataset = _load(task.source, task.run.data)
    return run_or_read(SeedTask(dataset, task.run, task.protocol, task.folder), send)[1]


_last: dict[tuple[Source, str], Dataset] = {}


def _load(source: Source, config: DataConfig) -> Dataset:
    """The data of a task; the last ones are kept, for the next task is often about the same."""
    key = (source, config.model_dump_json())
    if key not in _last:
        _last.clear()
        _last[key] = source.load_for(config)
    return _last[key]
