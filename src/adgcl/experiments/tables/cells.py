"""Cells: every row on every data set in every mode, with the jobs that each of them needs."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from adgcl.core.errors import AdgclError
from adgcl.core.gaps import Gap
from adgcl.experiments.jobs import Job
from adgcl.experiments.planning import Request
from adgcl.experiments.presets import preset_for, runs_here
from adgcl.experiments.schedule import gap_of
from adgcl.experiments.source import LoadedSource
from adgcl.experiments.tables.few_labels import FewLabels
from adgcl.experiments.tables.rows import Row
from adgcl.experiments.tables.transfer import Transfer
from adgcl.methods.base import METHODS
from adgcl.protocols.selection import Mode
from adgcl.published import optimal_lambda

# In the trials of a cell: settings of the pre-training, not of the run that is scored.
_PRETRAINING = "pretraining"
# Settings whose published optimum for a data set is added to the values tried.
_PUBLISHED_OPTIMUM: Mapping[str, Callable[[str], float | None]] = {"method.reg_lambda": optimal_lambda}


@dataclass(eq=False)
class Cell:
    """One row on one data set in one mode: its jobs by seed, one for each trial, or why there are none."""

    row: Row
    column: LoadedSource
    mode: Mode
    jobs: dict[int, list[Job]] = field(default_factory=dict)
    trials: tuple[dict[str, Any], ...] = ()
    gap: Gap | None = None

    @property
    def tuned(self) -> bool:
        """Whether one of several trials is chosen, by the scores that choose the epoch."""
        return len(self.trials) > 1

    @property
    def tunes_pretraining(self) -> bool:
        """Whether its trials differ in how they were pre-trained, not in the run that is scored."""
        return any(key.startswith(_PRETRAINING) for trial in self.trials for key in trial)

    @property
    def needs(self) -> Iterator[Job]:
        """Every job, those it depends on first."""
        for job in itertools.chain.from_iterable(self.jobs.values()):
            if job.needs is not None:
                yield job.needs
            yield job


@dataclass(frozen=True)
class CellMaker:
    """Expands cells to jobs: what is asked of all of them, which seeds, and where they keep their state.

    In tables about pre-training, rows start from encoders that `starts` provides.
    """

    asked: Request
    seeds: range
    work: Path
    protocol: str = ""
    starts: Transfer | FewLabels | None = None

    def cells(self, rows: Sequence[Row], columns: Sequence[LoadedSource], modes: Sequence[Mode]) -> list[Cell]:
        """Every cell of a table; cells that need the same work need the same Job."""
        made = [self._filled(Cell(row, column, mode)) for row in rows for column in columns for mode in modes]
        return _share(made)

    def _filled(self, cell: Cell) -> Cell:
        if not runs_here(cell.row.name):
            cell.gap = Gap("not here", f"There is no method called {cell.row.name!r} in this version.")
            return cell
        cell.gap = cell.column.gap
        if cell.gap is None:
            try:
                cell.jobs = {seed: self._jobs(cell, seed) for seed in self._useful_seeds(cell)}
            except AdgclError as error:
                cell.gap, cell.jobs = gap_of(error, trained=False), {}
        return cell

    def _useful_seeds(self, cell: Cell) -> range:
        """The seeds that can differ: only one, if neither the embedding nor the split is random."""
        if self.starts is not None and self.starts.provides(cell.row.name):
            differ = self.starts.seeds_differ(cell.row.name, cell.mode)
        else:
            dataset = cell.column.content
            method = METHODS[preset_for(cell.row.name, dataset).method]
            differ = not method.deterministic or dataset.split is None
        return self.seeds if differ else range(1)

    def _jobs(self, cell: Cell, seed: int) -> list[Job]:
        if self.starts is not None and self.starts.provides(cell.row.name):
            jobs = self._started(self.starts, cell, seed)
        else:
            jobs = self._trials(cell, seed)
        for job in jobs:
            _ = job.folder if job.needs is None else (job.outline, job.needs.folder)  # wrong settings are found here
        return jobs

    def _started(self, starts: Transfer | FewLabels, cell: Cell, seed: int) -> list[Job]:
        """A job for each way of pre-training that is tried."""
        trials = list(_trials(starts.tune(cell.row.name), cell.column))
        cell.trials = tuple({f"{_PRETRAINING}.{key}": value for key, value in trial.items()} for trial in trials)
        asked = self._asked(cell)
        return [starts.job(cell.row.name, asked, cell.column, seed, trial) for trial in trials]

    def _trials(self, cell: Cell, seed: int) -> list[Job]:
        preset = preset_for(cell.row.name, cell.column.content)
        cell.trials = tuple(_trials(preset.tune, cell.column))
        needs = None
        if preset.take:
            (row,) = {taken["row"] for taken in preset.take.values()}
            needs = self._job(row, cell, seed)
        take = {key: taken["training"] for key, taken in preset.take.items()}
        return [self._job(cell.row.name, cell, seed, trial, needs, take) for trial in cell.trials]

    def _asked(self, cell: Cell) -> Request:
        return self.asked.with_flags({"protocol": {"mode": cell.mode}})

    def _job(self, row: str, cell: Cell, seed: int, *about: Any) -> Job:
        asked = self._asked(cell)
        request = Request(row, asked.config, asked.flags, asked.assignments)
        return Job(request, cell.column, seed, self.work, self.protocol, *about)


def _trials(tune: Mapping[str, list[Any]], column: LoadedSource) -> Iterator[dict[str, Any]]:
    """Every combination of the values to try; one empty trial for a row that is not tuned."""
    name = column.content.origin.paper_name or column.content.name
    grids = []
    for key, values in tune.items():
        optimum = _PUBLISHED_OPTIMUM.get(key, lambda name: None)(name)
        grids.append(sorted({*values, *([] if optimum is None else [optimum])}))
    for combination in itertools.product(*grids):
        yield dict(zip(tune, combination))


def _share(cells: list[Cell]) -> list[Cell]:
    """Let cells that need the same work share the same Job."""
    known: dict[Any, Job] = {}

    def one(job: Job) -> Job:
        if job.needs is not None:
            job.needs = one(job.needs)
            return known.setdefault((str(job), job.data.name), job)
        return known.setdefault(job.folder, job)

    for cell in cells:
        cell.jobs = {seed: [one(job) for job in jobs] for seed, jobs in cell.jobs.items()}
    return cells
