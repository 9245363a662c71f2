"""Evaluation: a method trained from several seeds, or one finished run, judged on labelled data."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from adgcl.core.errors import DataError, Interrupted
from adgcl.core.files import ensure_folder
from adgcl.core.provenance import available_cores
from adgcl.core.records import Record
from adgcl.data.dataset import Dataset
from adgcl.experiments.application import open_both
from adgcl.experiments.planning import Plan, Wishes, plan, plan_protocol
from adgcl.experiments.source import Source
from adgcl.protocols.judging import (
    SeedProgress,
    evaluate_embedding,
    evaluate_method,
    published_figure,
    work_name,
)

# Up to this width one core per seed is faster than all cores for one seed.
_NARROW = 64
DEFAULT_SEEDS = 10


@dataclass(frozen=True)
class Judged:
    """Records, the data they are about, and how many seeds were finished by an earlier command."""

    records: list[Record]
    dataset: Dataset
    reused: int = 0


@dataclass(frozen=True)
class Work:
    """Where seeds keep their state, how many run at once, and whether finished ones count."""

    folder: Path | None = None
    jobs: int | None = None
    fresh: bool = False


def evaluate_new(
    source: Source,
    wishes: Wishes,
    seeds: Sequence[int],
    work: Work | None = None,
    *,
    progress: Any = None,
    on_progress: Callable[[SeedProgress], None] = lambda message: None,
    command: str = "",
) -> Judged:
    """Train a method from every seed on `source` and judge what it learned."""
    dataset = source.load(progress=progress)
    planned = plan(dataset, wishes)
    dataset = source.seen_through(dataset, planned.run.data, progress)
    return evaluate_plan(dataset, planned, seeds, work, on_progress=on_progress, command=command)


def evaluate_plan(
    dataset: Dataset,
    planned: Plan,
    seeds: Sequence[int],
    work: Work | None = None,
    *,
    on_progress: Callable[[SeedProgress], None] = lambda message: None,
    command: str = "",
) -> Judged:
    """The same with data and settings at hand."""
    check_labels(dataset)
    work = work or Work()
    run, protocol = planned.run, planned.protocol
    reused = 0
    if work.folder is not None:
        ensure_folder(work.folder)
        places = [work.folder / work_name(dataset, run, protocol) / f"seed-{seed}" for seed in seeds]
        if work.fresh:
            for place in places:
                shutil.rmtree(place, ignore_errors=True)
        reused = sum((place / "result.json").exists() for place in places)
    jobs = min(work.jobs or default_jobs(run.encoder.hidden_dim), len(seeds))
    if jobs > 1 and not run.training.threads:
        run = run.with_training(threads=max(1, available_cores() // jobs))
    try:
        records = evaluate_method(
            dataset, run, protocol, seeds, jobs=jobs, work=work.folder, on_progress=on_progress, command=command
        )
    except (Interrupted, KeyboardInterrupt) as stopped:
        kept = f" What is done is kept in {work.folder}." if work.folder else ""
        raise Interrupted(
            f"Stopped.{kept}", "Run the same command again to go on." if work.folder else None
        ) from stopped
    return Judged([named_as(planned.row, record, dataset) for record in records], dataset, reused)


def named_as(row: str, record: Record, dataset: Dataset) -> Record:
    """A Record under the name of its row, where that is not the method's own, with that row's published figure."""
    if row in ("", record.method):
        return record
    return replace(record, method=row, published=published_figure(dataset, row, record.probe))


def evaluate_run(
    run: Path,
    source: Source,
    wishes: Wishes,
    seeds: int | None = None,
    *,
    device: str = "auto",
    progress: Any = None,
    command: str = "",
) -> Judged:
    """Judge the embedding of one finished run; seeds differ in their folds only."""
    protocol = plan_protocol(wishes)
    loaded, dataset = open_both(run, source, device, progress)
    check_labels(dataset)
    # A published split leaves nothing to draw: more seeds would repeat the same number.
    count = seeds or (DEFAULT_SEEDS if dataset.split is None else 1)
    embedding = loaded.embed(dataset)
    records = evaluate_embedding(embedding, dataset, loaded.config, protocol, range(count), command)
    trained_on = loaded.checkpoint.data.get("name", "unknown data")
    about = f"One finished run, pre-trained on {trained_on}; seeds differ in their folds only."
    return Judged([replace(r, protocol="finished-run", notes=[*r.notes, about]) for r in records], dataset)


def check_labels(dataset: Dataset) -> None:
    """Refuse data without labels before anything is trained."""
    if dataset.store.y is None or dataset.task.kind == "none":
        raise DataError(
            f"{dataset.name} has no labels to judge an embedding by.",
            "Name a column with --label-column, or use `adgcl embed`.",
        )


def default_jobs(width: int) -> int:
    """A process per core for narrow networks, one process with every core for wide ones."""
    return available_cores() if width <= _NARROW else 1
