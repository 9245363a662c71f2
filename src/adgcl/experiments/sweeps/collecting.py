"""What a sweep found, as tidy rows: a row per trial, one per epoch of its course, and what was measured afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from adgcl.experiments.jobs import Job
from adgcl.experiments.sweeps.drop_probabilities import drop_probabilities
from adgcl.experiments.sweeps.separation import separation
from adgcl.experiments.sweeps.sweep import Sweep, Trial
from adgcl.methods.base import METHODS
from adgcl.protocols.seed_run import SeedRun
from adgcl.training.run_folder import RunFolder

Row = dict[str, Any]
_MEASURES = {"drop_probabilities": drop_probabilities, "separation": separation}


def collect(sweep: Sweep) -> dict[str, list[Row]]:
    """Every table of a sweep by name; figures are drawn from these rows alone."""
    tables: dict[str, list[Row]] = {"trials": [], "courses": []}
    measure = sweep.request.preset.measure
    for trial in sweep.trials:
        who, gap = _who(trial), sweep.gap_of(trial)
        if gap is not None:
            tables["trials"].append({**who, "status": gap.status, "detail": gap.detail})
            continue
        assert trial.job is not None
        tables["trials"] += [{**who, **row} for row in _scores(trial.job)]
        tables["courses"] += [{**who, **row} for row in _course(trial.job)]
        if measure:
            rows = _MEASURES[measure](trial.job, home(trial.job))
            tables.setdefault(measure, []).extend({**who, **row} for row in rows)
    return tables


def home(job: Job) -> Path:
    """The folder that holds the result of a finished job."""
    return next((folder for folder in (job.folder, *job.wider) if SeedRun.load(folder) is not None), job.folder)


def _who(trial: Trial) -> Row:
    return {"dataset": trial.data.name, "arm": trial.arm.name, **trial.values, "seed": trial.seed}


def _scores(job: Job) -> Iterator[Row]:
    """The scores of a finished trial at the epoch that validation chose, and after the last one."""
    result, planned = job.result(), job.plan
    assert result is not None
    task = job.dataset.task
    scale = 100.0 if task.higher_is_better else 1.0
    for score in planned.protocol.scores:
        chosen = planned.protocol.select(result, score, task.higher_is_better)
        last = [e for e in result.evaluations if e.probe == score][-1]
        yield {
            "status": "finished",
            "detail": "",
            "method": planned.run.method.name,
            "mode": planned.judging.mode,
            "epochs": planned.run.training.epochs,
            "score": score,
            "metric": task.metric,
            "higher_is_better": task.higher_is_better,
            "valid": round(scale * chosen.valid, 4),
            "test": round(scale * chosen.test, 4),
            "epoch": chosen.epochs[0] if len(set(chosen.epochs)) == 1 else None,
            "valid_at_end": round(scale * last.valid, 4),
            "test_at_end": round(scale * last.test, 4),
            **{f"{name}_at_end": round(value, 6) for name, value in result.training.items()},
            "seconds": result.seconds,
        }


def _course(job: Job) -> Iterator[Row]:
    """What each epoch looked like: the metrics that the method declares, and the scores where it was evaluated."""
    result, method = job.result(), job.plan.run.method
    assert result is not None
    scale = 100.0 if job.dataset.task.higher_is_better else 1.0
    kept = METHODS[method.name].kept(method)
    scores: dict[int, Row] = {}
    for found in result.evaluations:
        end = "" if len(job.plan.protocol.scores) == 1 else f"_{found.probe}"
        row = {f"valid{end}": round(scale * found.valid, 4), f"test{end}": round(scale * found.test, 4)}
        scores.setdefault(found.epoch, {}).update(row)
    metrics = {int(row["epoch"]): row for row in RunFolder(home(job)).read_metrics()}
    for epoch in sorted({*metrics, *scores}):
        shown = {name: round(float(metrics[epoch][name]), 6) for name in kept if name in metrics.get(epoch, {})}
        yield {"epoch": epoch, **shown, **scores.get(epoch, {})}
