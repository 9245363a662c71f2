"""Records of cells: the finished seeds of a row on a data set, and why others are missing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from adgcl.core.gaps import Gap
from adgcl.core.records import Record
from adgcl.experiments.jobs import FOLDER, Job
from adgcl.experiments.tables.cells import Cell
from adgcl.experiments.tables.tuning import choose, pool
from adgcl.graphs.store.fingerprint import fingerprint
from adgcl.protocols.identity import making_of
from adgcl.protocols.recording import make_record
from adgcl.protocols.seed_run import SeedRun
from adgcl.protocols.starts import note_of_start
from adgcl.training.run_config import RunConfig
from adgcl.training.start import encoder_origin


def cell_records(cell: Cell, command: str = "") -> list[Record]:
    """One Record per score from every seed whose jobs are all finished; none if there is no such seed."""
    trials = {seed: _finished(jobs) for seed, jobs in cell.jobs.items()}
    complete = {seed: found for seed, found in trials.items() if len(found) == len(cell.jobs[seed])}
    if not complete:
        return []
    first = cell.jobs[next(iter(complete))][0]
    return [_record(cell, first, score, complete, command) for score in first.plan.protocol.scores]


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
        done = f"{finished} of {finished + len(missing)} candidate runs are finished"
        return Gap("unfinished", f"{done}; the others: {worst.status}.")
    return worst


def _finished(jobs: list[Job]) -> list[tuple[Job, SeedRun]]:
    return [(job, result) for job in jobs if (result := job.result()) is not None]


def _record(
    cell: Cell, first: Job, score: str, complete: Mapping[int, list[tuple[Job, SeedRun]]], command: str
) -> Record:
    runs = [pool([run for _, run in found]) if cell.tuned else found[0][1] for found in complete.values()]
    planned = first.plan
    record = make_record(planned.protocol, first.dataset, planned.run, score, runs, row=cell.row.name, command=command)
    if cell.tuned:
        if cell.tunes_pretraining:
            record = _without_start(record, planned.run)
        return _with_choices(record, cell, score, [[run for _, run in found] for found in complete.values()])
    jobs = [found[0][0] for found in complete.values()]
    if first.needs is not None and FOLDER in first.take.values():
        record = _with_starts(record, jobs)
    return _with_taken(record, first, jobs) if first.figures else record


def _with_starts(record: Record, jobs: list[Job]) -> Record:
    """Which encoder each seed started from; what all of them share is how they were made."""
    first, needed = jobs[0], jobs[0].needs
    assert needed is not None
    made = making_of(needed.plan.run, needed.plan.protocol, fingerprint(needed.dataset.store))
    config = {**record.config, "started_from": {**_no_checksum(record.config["started_from"]), "made": made}}
    checksums = [encoder_origin(job.plan.run.training.start_from)["checksum"] for job in jobs]
    rows = [{**row, "started_from": checksum} for row, checksum in zip(record.runs, checksums, strict=True)]
    # Pre-training for transfer serves all seeds of a row, that for few labels is part of a seed.
    each_seed, run = needed.data is first.data, first.plan.run
    notes = [note_of_start(run, each_seed) if note == note_of_start(run) else note for note in record.notes]
    return replace(record, config=config, runs=rows, notes=notes)


def _no_checksum(origin: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in origin.items() if key != "checksum"}


def _with_choices(record: Record, cell: Cell, score: str, found: list[list[SeedRun]]) -> Record:
    """What each seed chose; the settings tried are under `tune` instead of their section."""
    higher, scale = record.higher_is_better, 100.0 if record.higher_is_better else 1.0
    rows = []
    for row, runs in zip(record.runs, found):
        choice = choose(list(zip(cell.trials, runs)), score, cell.mode, higher, scale)
        # A course would join the trials one after another, with no way to tell them apart.
        row = {key: value for key, value in row.items() if key != "course"}
        rows.append({**row, **choice.to_json()})
    grid = {key: sorted({trial[key] for trial in cell.trials}) for key in cell.trials[0]}
    for_every = "fold" if cell.mode == "strict" else "seed"
    how = "as the epoch was" if cell.tunes_pretraining else "on validation data"
    note = f"{', '.join(grid)} chosen {how} for every {for_every}."
    config = {**_without(record.config, grid), "tune": grid}
    return replace(record, runs=rows, config=config, notes=[*record.notes, note])


def _without_start(record: Record, run: RunConfig) -> Record:
    """A Record that does not speak of the first trial's pre-training as if it were the one chosen."""
    config = {key: value for key, value in record.config.items() if key != "started_from"}
    return replace(record, config=config, notes=[note for note in record.notes if note != note_of_start(run)])


def _with_taken(record: Record, first: Job, jobs: list[Job]) -> Record:
    """What each seed took from another row."""
    assert first.needs is not None
    taken = [{key: _setting(job, key) for key in job.figures} for job in jobs]
    rows = [{**row, "settings": settings} for row, settings in zip(record.runs, taken)]
    take = {key: {"row": first.needs.request.method, "training": name} for key, name in first.figures.items()}
    note = f"{', '.join(take)}: what {first.needs.request.method} ended with on the same data and seed."
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
        sections.get(section, {}).pop(name, None)
    return sections
