"""Records of cells: the finished seeds of a row on a data set, and why others are missing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from adgcl.core.gaps import Gap
from adgcl.core.records import Record
from adgcl.experiments.cells import Cell
from adgcl.experiments.evaluation import named_as
from adgcl.experiments.jobs import Job
from adgcl.experiments.tuning import choose, pool
from adgcl.protocols.judging import learns_from_labels, make_record
from adgcl.protocols.seed_run import SeedRun
from adgcl.protocols.supervised import HEAD


def cell_records(cell: Cell, command: str = "") -> list[Record]:
    """One Record per probe from every seed whose jobs are all finished; none if there is no such seed."""
    trials = {seed: _finished(jobs) for seed, jobs in cell.jobs.items()}
    complete = {seed: found for seed, found in trials.items() if len(found) == len(cell.jobs[seed])}
    if not complete:
        return []
    first = cell.jobs[next(iter(complete))][0]
    probes = (HEAD,) if learns_from_labels(first.plan.run) else first.wanted.probes
    return [_record(cell, first, probe, complete, command) for probe in probes]


def cell_gap(cell: Cell, gaps: Mapping[Job, Gap]) -> Gap | None:
    """Why the cell has no number or too few seeds; None if it is complete."""
    if cell.gap is not None:
        return cell.gap
    missing = [job for jobs in cell.jobs.values() for job in jobs if job.result() is None]
    if not missing:
        return None
    reasons = [gaps.get(job, Gap("not run")) for job in missing]
    worst = max(reasons, key=lambda gap: (gap.status in ("failed", "not applicable"), gap.status != "not run"))
    finished = sum(len(jobs) for jobs in cell.jobs.values()) - len(missing)
    if cell.tuned and finished and worst.status not in ("failed", "not applicable"):
        done = f"{finished} of {finished + len(missing)} runs that are to choose among are finished"
        return Gap("unfinished", f"{done}; the others: {worst.status}.")
    return worst


def _finished(jobs: list[Job]) -> list[tuple[Job, SeedRun]]:
    return [(job, result) for job in jobs if (result := job.result()) is not None]


def _record(
    cell: Cell, first: Job, probe: str, complete: Mapping[int, list[tuple[Job, SeedRun]]], command: str
) -> Record:
    planned = first.plan
    dataset = cell.column.seen(planned.run.data)
    runs = [pool([run for _, run in found]) if cell.tuned else found[0][1] for found in complete.values()]
    record = make_record(dataset, planned.run, planned.protocol, probe, runs, command)
    if cell.tuned:
        record = _with_choices(record, cell, probe, [[run for _, run in found] for found in complete.values()])
    elif first.take:
        record = _with_taken(record, first, [found[0][0] for found in complete.values()])
    return named_as(cell.row.name, record, dataset)


def _with_choices(record: Record, cell: Cell, probe: str, found: list[list[SeedRun]]) -> Record:
    """What each seed chose; the settings on trial stand under `tune` instead of their section."""
    higher, scale = record.higher_is_better, 100.0 if record.higher_is_better else 1.0
    rows = []
    for row, runs in zip(record.runs, found):
        choice = choose(list(zip(cell.trials, runs)), probe, cell.mode, higher, scale)
        # The trials stand in one course after another, of which nobody could tell which is which.
        row = {key: value for key, value in row.items() if key != "course"}
        rows.append({**row, **choice.to_json()})
    grid = {key: sorted({trial[key] for trial in cell.trials}) for key in cell.trials[0]}
    note = f"{', '.join(grid)} chosen on validation data for every {'fold' if cell.mode == 'strict' else 'seed'}."
    config = {**_without(record.config, grid), "tune": grid}
    return replace(record, runs=rows, config=config, notes=[*record.notes, note])


def _with_taken(record: Record, first: Job, jobs: list[Job]) -> Record:
    """What each seed took from another row."""
    assert first.source is not None
    taken = [{key: _setting(job, key) for key in job.take} for job in jobs]
    rows = [{**row, "settings": settings} for row, settings in zip(record.runs, taken)]
    take = {key: {"row": first.source.row, "training": name} for key, name in first.take.items()}
    note = f"{', '.join(take)}: what {first.source.row} ended with on the same data and seed."
    config = {**_without(record.config, take), "take": take}
    return replace(record, runs=rows, config=config, notes=[*record.notes, note])


def _setting(job: Job, key: str) -> Any:
    section, _, name = key.partition(".")
    return job.plan.run.to_tree()[section][name]


def _without(config: Mapping[str, Any], keys: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration without settings that differ from seed to seed."""
    sections = {section: dict(settings) for section, settings in config.items()}
    for key in keys:
        section, _, name = key.partition(".")
        sections[section].pop(name, None)
    return sections
