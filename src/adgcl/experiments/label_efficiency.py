"""Label efficiency: the same data with more and more labels, with and without pre-training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from adgcl.core.errors import ConfigError, DataError, Interrupted
from adgcl.core.files import ensure_folder
from adgcl.core.gaps import Gap
from adgcl.core.provenance import available_cores
from adgcl.experiments.evaluation import Watcher
from adgcl.experiments.jobs import Job
from adgcl.experiments.label_ways import Way, ways
from adgcl.experiments.schedule import Schedule
from adgcl.experiments.source import LoadedSource
from adgcl.jobs.executor import EXECUTORS
from adgcl.protocols.base import check_labels
from adgcl.protocols.fold_training import HEAD
from adgcl.protocols.label_parts import absent_classes, labelled_parts

RATES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
# Settings that every curve must have as promised, and what to use in place of --set.
_ELSEWHERE = "Use `adgcl evaluate --protocol semi_supervised` for other ways to evaluate."
_PROMISED = {
    "protocol.label_rate": "Give the shares with --rates, in percent.",
    "protocol.num_folds": "Give their number with --folds.",
    "protocol.mode": _ELSEWHERE,
    "protocol.validation": _ELSEWHERE,
    "protocol.name": _ELSEWHERE,
    "training.seed": "Give their number with --seeds.",
    "training.start_from": "Give the run with --encoder, as a curve of its own.",
}


@dataclass(frozen=True)
class LabelRequest:
    """Which shares of the labels to try, how often, by which pre-training, and with how much effort."""

    method: str = "adgcl"
    rates: tuple[float, ...] = RATES
    seeds: int = 3
    folds: int = 5
    encoders: tuple[str, ...] = ()
    assignments: tuple[str, ...] = ()
    pretraining: tuple[str, ...] = ()
    work: Path = Path("runs")
    jobs: int | None = None
    limit: float | None = None


@dataclass(frozen=True)
class Scored:
    """The scores of one way of learning with one share of the labels, a value for each seed that is finished.

    `scratch` says what the network that is trained from scratch is beside its own: `smaller`, `larger`, `other`, or
    nothing if it is the same.
    """

    way: Way
    rate: float
    labels: float
    values: tuple[float, ...]
    scratch: str = ""


@dataclass(frozen=True)
class Efficiency:
    """All scores, what there is to say about what is missing, and how many jobs are unfinished."""

    data: LoadedSource
    scores: tuple[Scored, ...]
    notes: tuple[str, ...]
    unfinished: int = 0


@dataclass(eq=False)
class LabelPlan:
    """The jobs of every way, rate and seed."""

    data: LoadedSource
    request: LabelRequest
    labels: Mapping[float, float]
    jobs: Mapping[tuple[Way, float], list[Job]]
    notes: list[str] = field(default_factory=list)

    @property
    def every(self) -> list[Job]:
        """Each job once, those it depends on first."""
        found = [job for jobs in self.jobs.values() for job in jobs]
        return list(dict.fromkeys(part for job in found for part in ((job.needs, job) if job.needs else (job,))))


def plan_labels(data: LoadedSource, request: LabelRequest) -> LabelPlan:
    """Check data and rates and lay out the work; rates at which some fold has too few labels are left out."""
    check_labels(data.content)
    _check_assignments(request.assignments)
    labels, notes = _usable(data, request)
    threads = max(1, available_cores() // (request.jobs or available_cores()))
    found, skipped = ways(data, request.method, request.work, request.encoders, request.pretraining, threads)
    jobs: dict[tuple[Way, float], list[Job]] = {}
    for way in found:
        for rate in labels:
            flags = _judging(rate, request.folds)
            jobs[way, rate] = [way.job(flags, request.assignments, seed) for seed in range(request.seeds)]
            for job in jobs[way, rate]:
                _ = job.outline  # wrong settings are found here
    return LabelPlan(data, request, labels, _shared(jobs), [*notes, *skipped])


def run_labels(plan: LabelPlan, watcher: Watcher | None = None) -> Efficiency:
    """Run what is not finished, and collect the scores."""
    request, watcher = plan.request, watcher or Watcher()
    ensure_folder(request.work)
    jobs = plan.every
    workers = max(min(request.jobs or available_cores(), len(jobs)), 1)
    executor = EXECUTORS["inline" if workers == 1 else "processes"](workers)
    schedule = Schedule(jobs, executor, request.limit, on_event=watcher)
    watcher.begin(schedule)
    try:
        schedule.run()
    except (Interrupted, KeyboardInterrupt) as stopped:
        raise schedule.interruption(f"Finished work is kept in {request.work}.") from stopped
    scores = tuple(scored for key in plan.jobs if (scored := _scored(plan, *key)) is not None)
    if not scores:
        raise next(iter(schedule.errors.values()), DataError("No job was finished.", "Give it more time."))
    failed = [f"{job}: {gap.detail}" for job, gap in schedule.gaps.items() if gap.detail]
    unfinished = sum(job.result() is None and not _is_final(schedule.gaps.get(job)) for job in jobs)
    return Efficiency(plan.data, scores, (*plan.notes, *dict.fromkeys(failed)), unfinished)


def _is_final(gap: Gap | None) -> bool:
    """Whether the same command would end in the same gap again."""
    return gap is not None and gap.status in ("failed", "not applicable")


def _check_assignments(assignments: tuple[str, ...]) -> None:
    """Refuse settings that would make points of other shares, folds or labels than the table says."""
    short = {key.partition(".")[2]: hint for key, hint in _PROMISED.items()}
    for assignment in assignments:
        key = assignment.partition("=")[0].strip()
        hint = _PROMISED.get(key) or short.get(key)
        if hint:
            raise ConfigError(f"`adgcl labels` decides about {key} itself.", hint)


def _usable(data: LoadedSource, request: LabelRequest) -> tuple[dict[float, float], list[str]]:
    """The rates that every fold of every seed can be taught with, their mean number of labels, and the others."""
    labels: dict[float, float] = {}
    notes: list[str] = []
    problem: DataError | None = None
    for rate in sorted(set(request.rates)):
        try:
            parts = [
                part
                for seed in range(request.seeds)
                for part in labelled_parts(data.content, "strict", seed, request.folds, rate, "labels")
            ]
        except DataError as error:
            problem = error
            notes.append(f"{100 * rate:g} % is left out. {error.message}")
        else:
            labels[rate] = float(np.mean([len(part.train) + len(part.valid) for part in parts]))
            notes += absent_classes(data.content, parts)
    if problem is not None and not labels:
        raise DataError(problem.message, _in_own_options(problem.hint or "")) from problem
    return labels, list(dict.fromkeys(notes))


def _in_own_options(hint: str) -> str:
    """The advice of the protocol in terms of this command."""
    if "label_rate=" in hint:
        return "Give larger --rates, in percent, or label more graphs."
    return hint.replace("--set num_folds=", "--folds ")


def _judging(rate: float, folds: int) -> dict[str, Any]:
    """Strict, and nothing but the labels that are counted may choose the epoch."""
    about = {"label_rate": rate, "num_folds": folds, "validation": "labels", "patience": 20}
    return {"protocol": {"name": "semi_supervised", "mode": "strict", **about}}


def _shared(jobs: dict[tuple[Way, float], list[Job]]) -> dict[tuple[Way, float], list[Job]]:
    """Rates share one pre-training for each seed."""
    known: dict[Path, Job] = {}
    for job in (job for found in jobs.values() for job in found):
        if job.needs is not None:
            job.needs = known.setdefault(job.needs.folder, job.needs)
    return jobs


def _scored(plan: LabelPlan, way: Way, rate: float) -> Scored | None:
    task = plan.data.content.task
    scale = 100.0 if task.higher_is_better else 1.0
    values = [
        round(scale * job.plan.protocol.select(result, HEAD, task.higher_is_better).test, 6)
        for job in plan.jobs[way, rate]
        if (result := job.result()) is not None
    ]
    return Scored(way, rate, plan.labels[rate], tuple(values), _scratch(plan, way, rate)) if values else None


def _scratch(plan: LabelPlan, way: Way, rate: float) -> str:
    """How the network from scratch differs from that of a way that starts from an encoder."""
    if way.kind != "pretrained":
        return ""
    alone = next(jobs[0] for (other, share), jobs in plan.jobs.items() if other.kind == "none" and share == rate)
    ours, theirs = (job.outline.run.encoder for job in (plan.jobs[way, rate][0], alone))
    if ours.hidden_dim != theirs.hidden_dim:
        return "smaller" if theirs.hidden_dim < ours.hidden_dim else "larger"
    return "" if ours.shape() == theirs.shape() else "other"
