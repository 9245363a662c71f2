"""Evaluation: a method trained with several seeds, or one finished run, scored on labelled data."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from adgcl.core.errors import ConfigError, Interrupted
from adgcl.core.files import ensure_folder
from adgcl.core.provenance import available_cores
from adgcl.core.records import Record
from adgcl.core.seeds import DEFAULT_SEEDS
from adgcl.data.dataset import Dataset
from adgcl.data.duplicates import find_duplicates
from adgcl.experiments.application import open_both
from adgcl.experiments.crew import make_schedule
from adgcl.experiments.jobs import Job
from adgcl.experiments.model.labels import check_classes
from adgcl.experiments.planning import Request, plan_protocol
from adgcl.experiments.schedule import Event, Schedule
from adgcl.experiments.source import LoadedSource, Source
from adgcl.experiments.yardsticks import with_counts, yardstick_embedding, yardsticks
from adgcl.jobs.placement import Placement
from adgcl.jobs.processes import dismiss_early
from adgcl.methods.base import METHODS
from adgcl.protocols.base import check_labels, make_protocol
from adgcl.protocols.finished_run import WITH_ECFP, FinishedRun
from adgcl.protocols.recording import make_records
from adgcl.training.device import is_narrow, pick_device
from adgcl.training.packaged import packaged_encoders, packaged_file
from adgcl.training.run_config import RunConfig
from adgcl.training.runs import LoadedRun
from adgcl.training.start import encoder_origin, find_encoder


@dataclass(frozen=True)
class Judged:
    """Records, the data they are about, and how many seeds were finished by an earlier command."""

    records: list[Record]
    dataset: Dataset
    reused: int = 0
    jobs: tuple[Job, ...] = ()


@dataclass(frozen=True)
class Work:
    """Where seeds keep their state, how many run at once, by which executor, and whether finished ones count."""

    folder: Path | None = None
    jobs: int | None = None
    fresh: bool = False
    executor: str = "processes"
    executor_settings: tuple[str, ...] = ()

    def placement(self, run: RunConfig, most: int) -> Placement:
        """Where at most some jobs run; one at a time runs in this process, so that errors keep their traceback."""
        asked = Placement(self.executor, self.jobs, self.executor_settings)
        count = min(self.jobs or (default_jobs(run) if asked.kind.here else asked.workers), most)
        name = "inline" if self.executor == "processes" and count == 1 else self.executor
        return replace(asked, executor=name, jobs=count)


class Watcher:
    """Follows an evaluation; the default does nothing."""

    def begin(self, schedule: Schedule) -> None:
        """The jobs are known, none has started."""

    def __call__(self, event: Event) -> None:
        """Something happened to a job."""


def evaluate(
    source: Source,
    request: Request,
    seeds: Sequence[int],
    work: Work | None = None,
    *,
    progress: Any = None,
    watcher: Watcher | None = None,
    command: str = "",
) -> Judged:
    """Train a method with every seed on `source` and evaluate what it learned."""
    data = LoadedSource.of(source, progress)
    return evaluate_loaded(data, request, seeds, work, watcher=watcher, command=command)


def evaluate_loaded(
    data: LoadedSource,
    request: Request,
    seeds: Sequence[int],
    work: Work | None = None,
    *,
    watcher: Watcher | None = None,
    command: str = "",
) -> Judged:
    """The same with data that is already loaded."""
    work = work or Work()
    with _folder_of(work) as folder:
        first = Job(request, data, seeds[0], folder).plan
        if not first.protocol.evaluates:
            raise ConfigError(f"The protocol {first.protocol.name!r} evaluates nothing.", "Use `adgcl pretrain`.")
        first.protocol.check_data(data.seen(first.run.data))
        placement = work.placement(first.run, len(seeds))
        if placement.threads and not first.run.training.threads:
            request = request.with_setting("training.threads", placement.threads)
        jobs = tuple(Job(request, data, seed, folder) for seed in seeds)
        if work.fresh:
            for job in jobs:
                job.forget()
                job.wider = ()  # Nor does the same training count that was evaluated in more ways.
        reused = sum(job.result() is not None for job in jobs)
        run_jobs(jobs, placement, folder, watcher or Watcher(), str(work.folder or ""))
        planned = jobs[0].plan
        runs = [result for job in jobs if (result := job.result()) is not None]
        records = make_records(planned.protocol, jobs[0].dataset, planned.run, runs, row=planned.row, command=command)
        return Judged(_with_split(records, data.source, jobs[0].dataset), jobs[0].dataset, reused, jobs)


def evaluate_run(
    run: Path,
    source: Source,
    request: Request,
    seeds: int | None = None,
    *,
    device: str = "auto",
    beside: bool = True,
    progress: Any = None,
    on_seed: Callable[[int, int], None] = lambda done, total: None,
    command: str = "",
) -> Judged:
    """Evaluate the embedding of one finished run, and `beside` it, on the same folds, what needs no pre-training.

    For molecules there is also the embedding next to a fingerprint: does one know what the other does not?
    """
    protocol = make_protocol(plan_protocol(request, FinishedRun.name))
    assert isinstance(protocol, FinishedRun)
    loaded, dataset = open_both(run, source, device, progress)
    check_labels(dataset)
    check_classes(dataset, task_named=source.task is not None)
    # With a published split nothing is random: more seeds would repeat the same number.
    count = seeds or (DEFAULT_SEEDS if dataset.split is None else 1)
    row, embedding = _row_of(run, loaded), loaded.embed(dataset)
    # Its weights are what is evaluated; the encoder that they once started from may be gone.
    config = loaded.config.with_training(start_from="")
    if source.keep_largest_fragment:
        config = config.model_copy(update={"data": config.data.model_copy(update={"keep_largest_fragment": True})})
    judged = [(config, row, embedding)]
    if beside:
        if dataset.smiles is not None and METHODS[loaded.config.method.name].trains:
            judged.append((config, f"{row}{WITH_ECFP}", with_counts(embedding, dataset)))
        judged += [(other, "", yardstick_embedding(dataset, other)) for other in yardsticks(dataset, loaded.config)]
    records: list[Record] = []
    for number, (settings, name, rows) in enumerate(judged):
        runs = []
        for seed in range(count):
            runs.append(protocol.judge_seed(rows, dataset, seed))
            on_seed(number * count + seed + 1, len(judged) * count)
        records += make_records(protocol, dataset, settings, runs, row=name, command=command)
    return Judged(_with_split(_with_notes(records, row, run, dataset), source, dataset), dataset)


def _row_of(run: Path, loaded: LoadedRun) -> str:
    """What tables call a finished run: a packaged encoder by its name, any other by its method."""
    name = str(run)
    # A folder of that name goes before it.
    packaged = name in packaged_encoders() and find_encoder(name) == packaged_file(name)
    return name if packaged else loaded.config.method.name


def _with_notes(records: list[Record], row: str, run: Path, dataset: Dataset) -> list[Record]:
    """What a reader must know: that this is one run, its training data, and what occurs in two parts."""
    origin = encoder_origin(str(run))
    about = (
        f"One finished run, pre-trained on {origin['data'] or 'unknown data'} (SHA-256 of the encoder's weights "
        f"{origin['checksum'][:12]}); seeds differ in folds only."
    )
    warning = str(find_duplicates(dataset))
    return [
        replace(
            record,
            notes=[
                *record.notes,
                *([about] if record.method.removesuffix(WITH_ECFP) == row else []),
                *([warning] if warning else []),
            ],
        )
        for record in records
    ]


def _with_split(records: list[Record], source: Source, dataset: Dataset) -> list[Record]:
    """Records that say how the user divided the data; published figures are about other graphs."""
    if not source.split:
        return records
    digest = source.column_digest(dataset)
    division = {"split": source.split, **({"parts": digest} if digest else {})}
    return [replace(record, data={**record.data, **division}, published=None) for record in records]


def default_jobs(run: RunConfig) -> int:
    """A process per core for narrow networks; one process for wide ones, which use all cores, and for a GPU."""
    on_cpu = pick_device(run.training.device).type == "cpu"
    return available_cores() if on_cpu and is_narrow(run.encoder.hidden_dim) else 1


def run_jobs(jobs: Sequence[Job], placement: Placement, folder: Path, watcher: Watcher, kept: str) -> None:
    """Run jobs to their end; the first error of any is raised. `kept` says where the work of a user who stops is."""
    if placement.executor != "processes":
        dismiss_early()
    schedule = make_schedule(jobs, placement.open(len(jobs), folder), on_event=watcher)
    watcher.begin(schedule)
    try:
        schedule.run()
    except (Interrupted, KeyboardInterrupt) as stopped:
        raise schedule.interruption(f"Finished work is kept in {kept}." if kept else "") from stopped
    for error in schedule.errors.values():
        raise error


@contextmanager
def _folder_of(work: Work) -> Iterator[Path]:
    """The folder of seeds; a temporary one if none is named."""
    if work.folder is not None:
        yield ensure_folder(work.folder)
        return
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)
