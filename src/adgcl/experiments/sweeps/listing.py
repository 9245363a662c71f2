"""Listing: what a sweep would run, what is finished, and how long the rest may take."""

from __future__ import annotations

from typing import Any

from adgcl.experiments.estimates import Estimates
from adgcl.experiments.sweeps.sweep import Sweep, Trial


def listing(sweep: Sweep) -> tuple[list[dict[str, Any]], float]:
    """One row per data set and arm, and an estimate of all that is left, in seconds of this machine."""
    estimates = Estimates()
    for job in sweep.jobs:
        estimates.learn(job)
    groups: dict[tuple[str, str], list[Trial]] = {}
    for trial in sweep.trials:
        groups.setdefault((trial.data.name, trial.arm.name), []).append(trial)
    rows = [_row(*place, trials, estimates) for place, trials in groups.items()]
    left = sum(estimates.seconds(job) for job in sweep.jobs if job.result() is None)
    return rows, left / sweep.executor.workers


def _row(dataset: str, arm: str, trials: list[Trial], estimates: Estimates) -> dict[str, Any]:
    jobs = [trial.job for trial in trials if trial.job is not None]
    left = [job for job in jobs if job.result() is None]
    seconds = sum(map(estimates.seconds, left))
    gap = next((str(trial.gap) for trial in trials if trial.gap is not None), "")
    return {
        "dataset": dataset,
        "arm": arm,
        "trials": len(trials),
        "finished": len(jobs) - len(left),
        "estimated_seconds": round(seconds, 1),
        "estimate": f"{seconds / 60:.1f} min",
        "note": gap,
    }
