"""Cells: every row on every data set in every mode, with the jobs that each of them needs."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from adgcl.core.errors import AdgclError
from adgcl.core.gaps import Gap
from adgcl.experiments.columns import Column, gap_of
from adgcl.experiments.jobs import Job, Wanted
from adgcl.experiments.presets import Preset, preset_for
from adgcl.experiments.tables import Row, runs_here
from adgcl.methods.base import METHODS
from adgcl.protocols.selection import Mode
from adgcl.published import optimal_lambda

# Settings whose published optimum for a data set joins the values that are tried.
_PUBLISHED_OPTIMUM: Mapping[str, Callable[[str], float | None]] = {"method.reg_lambda": optimal_lambda}


@dataclass(eq=False)
class Cell:
    """One row on one data set in one mode: its jobs by seed, one for each trial, or why there are none."""

    row: Row
    column: Column
    mode: Mode
    jobs: dict[int, list[Job]] = field(default_factory=dict)
    trials: tuple[dict[str, Any], ...] = ()
    gap: Gap | None = None

    @property
    def tuned(self) -> bool:
        """Whether validation data choose among several trials."""
        return len(self.trials) > 1

    @property
    def needs(self) -> Iterator[Job]:
        """Every job, those it depends on first."""
        for job in itertools.chain.from_iterable(self.jobs.values()):
            if job.source is not None:
                yield job.source
            yield job


def make_cells(
    rows: Sequence[Row], columns: Sequence[Column], modes: Sequence[Mode], seeds: int, wanted: Wanted
) -> list[Cell]:
    """Expand a table; an extra row that nobody asked for is left out where it applies to no data set."""
    cells = [_cell(Cell(row, column, mode), seeds, wanted) for row in rows for column in columns for mode in modes]
    return _share(cells)


def _cell(cell: Cell, seeds: int, wanted: Wanted) -> Cell:
    if not runs_here(cell.row.name):
        cell.gap = Gap("not here", f"There is no method called {cell.row.name!r} in this version.")
        return cell
    cell.gap = cell.column.gap
    if cell.gap is None:
        try:
            cell.jobs = {seed: _jobs(cell, seed, wanted) for seed in range(_useful(cell, seeds))}
        except AdgclError as error:
            cell.gap, cell.jobs = gap_of(error, trained=False), {}
    return cell


def _useful(cell: Cell, seeds: int) -> int:
    """How many seeds can differ: one, where neither the embedding nor the split has any chance in it."""
    assert cell.column.dataset is not None
    method = METHODS[preset_for(cell.row.name, cell.column.dataset).method]
    return 1 if method.deterministic and cell.column.dataset.split is not None else seeds


def _jobs(cell: Cell, seed: int, wanted: Wanted) -> list[Job]:
    assert cell.column.dataset is not None
    preset = preset_for(cell.row.name, cell.column.dataset)
    cell.trials = tuple(_trials(preset, cell.column))
    source = None
    if preset.take:
        (row,) = {taken["row"] for taken in preset.take.values()}
        source = Job(row, cell.column, cell.mode, seed, wanted)
    take = {key: taken["training"] for key, taken in preset.take.items()}
    jobs = [Job(cell.row.name, cell.column, cell.mode, seed, wanted, trial, source, take) for trial in cell.trials]
    for job in jobs:
        _ = job.folder if job.source is None else job.source.folder  # wrong settings are found out here
    return jobs


def _trials(preset: Preset, column: Column) -> Iterator[dict[str, Any]]:
    """Every combination of the values on trial; one empty trial for a row that is not tuned."""
    assert column.dataset is not None
    name = column.dataset.origin.paper_name or column.dataset.name
    grids = []
    for key, values in preset.tune.items():
        optimum = _PUBLISHED_OPTIMUM.get(key, lambda name: None)(name)
        grids.append(sorted({*values, *([] if optimum is None else [optimum])}))
    for combination in itertools.product(*grids):
        yield dict(zip(preset.tune, combination))


def _share(cells: list[Cell]) -> list[Cell]:
    """Make cells that need the same work need the same Job."""
    known: dict[Any, Job] = {}

    def one(job: Job) -> Job:
        if job.source is not None:
            job.source = one(job.source)
            return known.setdefault((job.row, job.column.name, job.mode, job.seed, str(job.values)), job)
        return known.setdefault(job.folder, job)

    for cell in cells:
        cell.jobs = {seed: [one(job) for job in jobs] for seed, jobs in cell.jobs.items()}
    return cells
