"""Judging: seeds side by side, and the Records that come of them."""

from __future__ import annotations

import datetime
import hashlib
import json
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from adgcl.core.locks import locked
from adgcl.core.provenance import machine, peak_memory_mb, versions
from adgcl.core.records import Record
from adgcl.data.dataset import Dataset
from adgcl.graphs.store.fingerprint import fingerprint
from adgcl.methods.base import METHODS
from adgcl.protocols.jobs import Send, run_jobs
from adgcl.protocols.seed_run import SeedRun
from adgcl.protocols.supervised import HEAD
from adgcl.protocols.unsupervised import UnsupervisedConfig, judge, run_seed
from adgcl.published import find_result, layouts, paper_method
from adgcl.training.run_config import RunConfig
from adgcl.training.trackers import StepReport

_LEAKY = "The encoder was trained with labels; where the graphs judged here were among them, this is no test."


@dataclass(frozen=True)
class SeedTask:
    """One seed's work, as it is handed to a process."""

    dataset: Dataset
    run: RunConfig
    protocol: UnsupervisedConfig
    folder: Path | None


@dataclass(frozen=True)
class SeedProgress:
    """A message: how far one seed is."""

    seed: int
    done: int
    total: int
    metrics: dict[str, float]


class _Reporter:
    """A Tracker that sends a message a few times a second."""

    def __init__(self, seed: int, send: Send) -> None:
        self.seed, self.send, self.last = seed, send, 0.0

    def start(self, epochs: int, steps: int, done: int) -> None:
        self.send(SeedProgress(self.seed, done, epochs * steps, {}))

    def step(self, report: StepReport) -> None:
        done = (report.epoch - 1) * report.steps + report.step
        total = report.epochs * report.steps
        now = time.monotonic()
        if done == total or now - self.last > 0.2:
            self.last = now
            self.send(SeedProgress(self.seed, done, total, report.metrics))

    def epoch(self, row: dict[str, Any]) -> None:
        pass

    def stop(self) -> None:
        pass


def run_task(task: SeedTask, send: Send) -> SeedRun:
    """Do one seed, alone in its folder; a finished one is only read."""
    return run_or_read(task, send)[0]


def run_or_read(task: SeedTask, send: Send) -> tuple[SeedRun, bool]:
    """The same, and whether the work was done just now: another process may have finished it in the meantime."""
    with locked(task.folder) if task.folder else nullcontext():
        if (found := SeedRun.load(task.folder)) is not None:
            return found, False
        reporter = _Reporter(task.run.training.seed, send)
        return run_seed(task.dataset, task.run, task.protocol, folder=task.folder, trackers=[reporter]), True


def evaluate_method(
    dataset: Dataset,
    run: RunConfig,
    protocol: UnsupervisedConfig,
    seeds: Sequence[int],
    *,
    jobs: int = 1,
    work: Path | None = None,
    on_progress: Callable[[SeedProgress], None] = lambda progress: None,
    command: str = "",
) -> list[Record]:
    """Run every seed, finished ones from `work`, and return one Record per probe, or one for a method with a head."""
    base = None if work is None else work / work_name(dataset, run, protocol)
    tasks = [
        SeedTask(dataset, run.with_training(seed=seed), protocol, base / f"seed-{seed}" if base else None)
        for seed in seeds
    ]
    runs: dict[int, SeedRun] = dict(run_jobs(run_task, tasks, jobs, on_progress))
    ordered = [runs[i] for i in range(len(tasks))]
    probes = (HEAD,) if learns_from_labels(run) else protocol.probes
    return [make_record(dataset, run, protocol, probe, ordered, command) for probe in probes]


def evaluate_embedding(
    embedding: Any,
    dataset: Dataset,
    run: RunConfig,
    protocol: UnsupervisedConfig,
    seeds: Sequence[int],
    command: str = "",
) -> list[Record]:
    """Judge one finished embedding; seeds differ in their folds only."""
    started = time.monotonic()
    runs = []
    for seed in seeds:
        evaluations = tuple(judge(embedding, dataset, protocol, seed))
        runs.append(
            SeedRun(seed, evaluations, seconds=round(time.monotonic() - started, 2), peak_memory_mb=peak_memory_mb())
        )
        started = time.monotonic()
    return [make_record(dataset, run, protocol, probe, runs, command) for probe in protocol.probes]


def learns_from_labels(run: RunConfig) -> bool:
    """Whether a method predicts by a head of its own, so that no probe is asked."""
    return METHODS[run.method.name].needs_labels


def _how_judged(protocol: UnsupervisedConfig, by_head: bool) -> dict[str, Any]:
    """The settings of the protocol that count."""
    return protocol.model_dump(mode="json", exclude={"probes", "svm_epochs"} if by_head else None)


def work_name(dataset: Dataset, run: RunConfig, protocol: UnsupervisedConfig) -> str:
    """A folder name that is the same exactly when the work is the same."""
    tree = run.to_tree()
    for harmless in ("seed", "threads", "checkpoint_seconds", "device"):
        tree["training"].pop(harmless)
    judged = _how_judged(protocol, learns_from_labels(run))
    text = json.dumps([tree, judged, fingerprint(dataset.store)], sort_keys=True)
    digest = hashlib.sha256(text.encode()).hexdigest()[:10]
    return f"{dataset.name}-{run.method.name}-{protocol.mode}-{digest}"


def make_record(
    dataset: Dataset,
    run: RunConfig,
    protocol: UnsupervisedConfig,
    probe: str,
    runs: Sequence[SeedRun],
    command: str = "",
) -> Record:
    """Summarise seeds as a Record; accuracies and AUCs in percent."""
    task, by_head = dataset.task, probe == HEAD
    leaky = learns_from_labels(run) and not by_head
    scale = 100.0 if task.higher_is_better else 1.0
    chosen = [r.selected(probe, protocol.mode, task.higher_is_better) for r in runs]
    values = [round(c.test * scale, 6) for c in chosen]
    rows = [
        {
            "seed": r.seed,
            "test": values[i],
            "valid": round(chosen[i].valid * scale, 6),
            "epochs": list(chosen[i].epochs),
            "folds": _printed(chosen[i].test_folds, scale),
            "course": _course(r, probe, scale),
            "training": r.training,
            "seconds": r.seconds,
        }
        for i, r in enumerate(runs)
    ]
    return Record(
        dataset=dataset.name,
        method=run.method.name,
        mode=protocol.mode,
        protocol="supervised" if by_head else "unsupervised",
        probe=probe,
        metric=task.metric,
        higher_is_better=task.higher_is_better,
        mean=round(float(np.mean(values)), 6),
        std=round(float(np.std(values, ddof=1)), 6) if len(values) > 1 else None,
        values=values,
        seeds=[r.seed for r in runs],
        runs=rows,
        published=None if leaky else published_figure(dataset, run.method.name, probe),
        config={**run.to_tree(), "protocol": _how_judged(protocol, by_head)},
        data={
            "name": dataset.name,
            "graphs": len(dataset),
            "fingerprint": fingerprint(dataset.store),
            "source": dataset.origin.source,
            "note": dataset.origin.note,
        },
        seconds=round(sum(r.seconds for r in runs), 2),
        peak_memory_mb=max(r.peak_memory_mb for r in runs),
        versions=versions(),
        machine=machine(),
        command=command,
        created=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        notes=[_LEAKY] if leaky else [],
    )


def _course(run: SeedRun, probe: str, scale: float) -> dict[str, list[Any]]:
    """What the probe said after every epoch it was asked: how much hangs on the choice of one of them."""
    judged = [e for e in run.evaluations if e.probe == probe]
    return {
        "epochs": [e.epoch for e in judged],
        "valid": _printed([e.valid for e in judged], scale),
        "test": _printed([e.test for e in judged], scale),
    }


def _printed(scores: Iterable[float], scale: float) -> list[float | None]:
    """Scores in the unit of the Record; one that is undefined becomes null."""
    return [None if np.isnan(score) else round(score * scale, 6) for score in scores]


def published_figure(dataset: Dataset, method: str, probe: str) -> dict[str, Any] | None:
    """The paper's number for this data set, method and probe, if it has one."""
    name, label = dataset.origin.paper_name or dataset.name, paper_method(method)
    if label is None:
        return None
    for table in layouts().values():
        found = find_result(name, label, table.name) if probe in (table.probe, HEAD) else None
        if found is not None:
            return {"table": table.name, "method": label, "mean": found.mean, "std": found.std}
    return None
