"""Jobs: one row on one data set from one seed in one mode, and what is known of it on disk."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from adgcl.core.config import merged
from adgcl.core.errors import AdgclError, ConfigError
from adgcl.core.locks import is_locked
from adgcl.experiments.columns import Column
from adgcl.experiments.planning import Plan, Wishes, plan
from adgcl.protocols.judging import work_name
from adgcl.protocols.seed_run import SeedRun
from adgcl.protocols.selection import Mode
from adgcl.training.run_folder import RunFolder

Probes = tuple[str, ...]
_BOTH: Probes = ("linear", "svm")


@dataclass(frozen=True)
class Wanted:
    """What all jobs of one command share: the probes, extra settings, and the folder of seeds."""

    probes: Probes
    work: Path
    assignments: tuple[str, ...] = ()
    threads: int = 0


@dataclass(eq=False)
class Job:
    """A seed of a row on a data set; `values` are settings on trial.

    Where `source` is given, the settings in `take` come from what that job's training ended with, so the job cannot
    be planned before.
    """

    row: str
    column: Column
    mode: Mode
    seed: int
    wanted: Wanted
    values: Mapping[str, Any] = field(default_factory=dict)
    source: Job | None = None
    take: Mapping[str, str] = field(default_factory=dict)
    _result: SeedRun | None = field(default=None, repr=False)

    def __str__(self) -> str:
        trial = "".join(f" {key.rpartition('.')[2]}={value}" for key, value in self.values.items())
        return f"{self.row}{trial} on {self.column.name}, {self.mode}, seed {self.seed}"

    @property
    def ready(self) -> bool:
        """Whether everything it needs is there."""
        return self.source is None or self.source.result() is not None

    @cached_property
    def plan(self) -> Plan:
        """Checked settings; only of a job that is ready."""
        return self._plan(self.wanted.probes)

    @cached_property
    def folder(self) -> Path:
        """Where it keeps its state: the same as that of any command with the same settings."""
        return self._folder(self.plan)

    @cached_property
    def alike(self) -> tuple[Path, ...]:
        """The folder of the same training judged by both probes, which has all that one of them needs."""
        wider = self._folder(self._plan(_BOTH))
        return () if wider == self.folder else (wider,)

    @cached_property
    def problem(self) -> AdgclError | None:
        """What is wrong with the settings of a job that is ready, if anything is."""
        try:
            _ = self.folder, self.alike
        except AdgclError as error:
            return error
        return None

    def result(self) -> SeedRun | None:
        """The finished seed, from wherever it was finished; one that cannot be read is not finished."""
        if self._result is None and self.ready and self.problem is None:
            with suppress(ValueError, KeyError, TypeError):
                found = (SeedRun.load(folder) for folder in (self.folder, *self.alike))
                self._result = next(filter(None, found), None)
        return self._result

    @property
    def busy(self) -> bool:
        """Whether another process is at it."""
        return any(is_locked(folder) for folder in (self.folder, *self.alike))

    @cached_property
    def trained(self) -> float:
        """The share of its epochs that an earlier command has trained."""
        epochs = self.plan.run.training.epochs
        return min(len(RunFolder(self.folder).read_metrics()) / epochs, 1.0) if epochs else 0.0

    @property
    def has_begun(self) -> bool:
        """Whether any epoch has been trained."""
        return RunFolder(self.folder).metrics.exists()

    def _folder(self, planned: Plan) -> Path:
        dataset = self.column.seen(planned.run.data)
        return self.wanted.work / work_name(dataset, planned.run, planned.protocol) / f"seed-{self.seed}"

    def _plan(self, probes: Probes) -> Plan:
        assert self.column.dataset is not None
        flags: dict[str, Any] = {"protocol": {"mode": self.mode, "probes": list(probes)}}
        settings = {**self.values, **self._taken()}
        for key, value in settings.items():
            section, _, name = key.partition(".")
            flags = merged(flags, {section: {name: value}})
        training = {
            "training": {"seed": self.seed, **({"threads": self.wanted.threads} if self.wanted.threads else {})}
        }
        return plan(self.column.dataset, Wishes(self.row, None, merged(flags, training), self.wanted.assignments))

    def _taken(self) -> dict[str, Any]:
        if self.source is None:
            return {}
        result = self.source.result()
        assert result is not None, "asked for before its source is finished"
        for name in self.take.values():
            if name not in result.training:
                raise ConfigError(f"{self.source} has no {name} to take.", "Let it train for at least one epoch.")
        return {key: round(result.training[name], 4) for key, name in self.take.items()}
