"""Sweep: arms on data sets with seeds, expanded to jobs that are all checked before any of them runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from adgcl.core.config import merged
from adgcl.core.errors import ConfigError, DataError, Interrupted
from adgcl.core.files import ensure_folder
from adgcl.core.gaps import Gap
from adgcl.experiments.crew import make_schedule
from adgcl.experiments.jobs import Job
from adgcl.experiments.planning import Request
from adgcl.experiments.presets import preset_for
from adgcl.experiments.schedule import Event, Schedule, gap_of
from adgcl.experiments.source import LoadedSource
from adgcl.experiments.sweeps.arms import Arm, SweepPreset
from adgcl.experiments.tables.columns import open_column
from adgcl.jobs.executor import Executor
from adgcl.jobs.placement import Placement
from adgcl.methods.base import METHODS
from adgcl.protocols.selection import Mode


@dataclass(frozen=True)
class SweepRequest:
    """Which sweep, on which data, and with how much effort; `limit` in seconds."""

    preset: SweepPreset
    datasets: tuple[str, ...] = ()
    seeds: int | None = None
    epochs: int | None = None
    mode: Mode | None = None
    assignments: tuple[str, ...] = ()
    work: Path = Path("runs")
    out: Path = Path("results/sweeps")
    jobs: int | None = None
    executor: str = "processes"
    limit: float | None = None
    data_dir: Path | None = None
    command: str = ""
    executor_settings: tuple[str, ...] = ()

    @property
    def placement(self) -> Placement:
        return Placement(self.executor, self.jobs, self.executor_settings)

    @property
    def essence(self) -> dict[str, Any]:
        """What trials must have in common to be kept in one folder: everything but data sets, seeds and epochs."""
        arms = [{"name": a.name, "row": a.row, "settings": a.settings, "grid": a.grid} for a in self.preset.arms]
        return {
            "name": self.preset.name,
            "arms": arms,
            "settings": self.preset.settings,
            "mode": self.judged,
            "assignments": sorted(a for a in self.assignments if not a.startswith("training.step=")),
        }

    @property
    def judged(self) -> Mode:
        return self.mode or self.preset.mode


@dataclass(eq=False)
class Trial:
    """One arm with some values on one data set, with one seed: its job, or why there is none."""

    arm: Arm
    data: LoadedSource
    values: Mapping[str, Any]
    seed: int
    job: Job | None = None
    gap: Gap | None = None


@dataclass(eq=False)
class Sweep:
    """A request expanded to trials."""

    request: SweepRequest
    trials: list[Trial]
    gaps: dict[Job, Gap] = field(default_factory=dict)

    @property
    def jobs(self) -> list[Job]:
        """Every job once, whichever trials need it."""
        return list(dict.fromkeys(trial.job for trial in self.trials if trial.job is not None))

    @property
    def executor(self) -> Executor:
        """Where the jobs run."""
        return self.request.placement.open(len(self.jobs), self.request.work)

    def schedule(self, on_event: Callable[[Event], None] = lambda event: None) -> Schedule:
        """The jobs in order: every trial's first seed before any second one."""
        return make_schedule(self.jobs, self.executor, self.request.limit, on_event=on_event)

    def run(self, schedule: Schedule) -> None:
        """Run the remaining jobs; a failed one leaves a gap."""
        ensure_folder(self.request.work)
        self.gaps = schedule.gaps
        try:
            schedule.run()
        except (Interrupted, KeyboardInterrupt) as stopped:
            raise schedule.interruption(f"Finished trials are kept in {self.request.work}.") from stopped

    def gap_of(self, trial: Trial) -> Gap | None:
        """Why a trial has no result; None if it has one."""
        if trial.job is None:
            return trial.gap
        return None if trial.job.result() is not None else self.gaps.get(trial.job, Gap("not run"))


def open_sweep(request: SweepRequest, progress: Any = None) -> Sweep:
    """Load the data and plan every trial; a setting out of range refuses the whole sweep before anything runs."""
    names = request.datasets or request.preset.datasets
    if not names:
        raise ConfigError("A sweep needs data.", "Name some with --datasets MUTAG PROTEINS.")
    _refuse_overrides(request)
    columns = [open_column(name, request.data_dir, progress) for name in dict.fromkeys(names)]
    trials = [trial for column in columns for trial in _trials(request, column)]
    known: dict[Path, Job] = {}
    for trial in trials:
        if trial.job is not None:
            trial.job = known.setdefault(trial.job.folder, trial.job)
    return Sweep(request, trials)


def _refuse_overrides(request: SweepRequest) -> None:
    """An assignment wins over all else, so one that names a swept setting would make its trials all alike."""
    set_by_user = {assignment.partition("=")[0].strip() for assignment in request.assignments}
    for key in (key for arm in request.preset.arms for key in arm.grid):
        if set_by_user & {key, key.partition(".")[2]}:
            raise ConfigError(f"Nothing was run: {key} is swept, and also set.", f"Leave out --set {key}=...")


def _trials(request: SweepRequest, column: LoadedSource) -> Iterator[Trial]:
    threads = request.placement.threads
    for arm in request.preset.arms:
        for values in arm.trials():
            for seed in range(_useful_seeds(request, arm, column)):
                trial = Trial(arm, column, values, seed, gap=column.gap)
                if column.gap is None:
                    _plan(request, trial, threads)
                yield trial


def _useful_seeds(request: SweepRequest, arm: Arm, column: LoadedSource) -> int:
    """How many seeds can differ: one, if neither the embedding nor the split is random."""
    seeds = request.seeds or request.preset.seeds
    if column.dataset is None or column.dataset.split is None:
        return seeds
    return 1 if METHODS[preset_for(arm.row, column.dataset).method].deterministic else seeds


def _plan(request: SweepRequest, trial: Trial, threads: int) -> None:
    epochs = {} if request.epochs is None else {"epochs": request.epochs}
    training = {**epochs, **({"threads": threads} if threads else {})}
    flags = merged(
        request.preset.settings,
        trial.arm.settings,
        {"training": training, "protocol": {"mode": request.judged}},
    )
    asked = Request(trial.arm.row, None, flags, request.assignments)
    job = Job(asked, trial.data, trial.seed, request.work, values=trial.values, label=trial.arm.name)
    try:
        _ = job.folder
        job.plan.protocol.check_data(job.dataset)
    except DataError as error:
        trial.gap = gap_of(error, trained=False)
    except ConfigError as error:
        raise ConfigError(f"Nothing was run: {error.message}", error.hint) from error
    else:
        trial.job = job
