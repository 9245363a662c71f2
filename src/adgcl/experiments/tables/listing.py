"""Listing: what a table would run, what is finished, and how long the rest may take."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from adgcl.experiments.estimates import Estimates
from adgcl.experiments.jobs import Job
from adgcl.experiments.tables.cells import Cell
from adgcl.experiments.tables.reproduction import Reproduction


def listing(table: Reproduction) -> tuple[list[dict[str, Any]], float]:
    """One row per cell, and an estimate of all that is left, in seconds of this machine."""
    estimates = Estimates()
    jobs = table.jobs
    for job in jobs:
        estimates.learn(job)
    left = sum(estimates.seconds(job) for job in jobs if job.result() is None)
    asked = {row.name for row in table.rows}
    rows = [_row(cell, estimates, asked) for cell in table.cells]
    return rows, left / max(min(table.executor.workers, len(jobs)), 1)


def _row(cell: Cell, estimates: Estimates, asked: set[str]) -> dict[str, Any]:
    jobs = [job for trials in cell.jobs.values() for job in trials]
    open_jobs = [job for job in jobs if job.result() is None]
    seconds = sum(estimates.seconds(job) for job in open_jobs)
    return {
        "row": cell.row.name,
        "dataset": cell.column.name,
        "mode": cell.mode,
        "seeds": len(cell.jobs),
        "jobs": len(jobs),
        "finished": len(jobs) - len(open_jobs),
        "estimated_seconds": round(seconds, 1),
        "estimate": f"{seconds / 3600:.2f} h",
        "note": _note(cell, jobs, asked),
    }


def _note(cell: Cell, jobs: list[Job], asked: set[str]) -> str:
    if cell.gap is not None:
        # What to do about it may take many lines; `adgcl data info` has them.
        return str(replace(cell.gap, detail=cell.gap.detail.partition(". ")[0]))
    notes = [f"chooses among {len(cell.trials)}"] if cell.tuned else []
    needed = {job.needs.label or job.needs.request.method or "" for job in jobs if job.needs is not None}
    notes += [f"needs {what} first{'' if what in asked else ', which is added'}" for what in sorted(needed)]
    return "; ".join(notes)
