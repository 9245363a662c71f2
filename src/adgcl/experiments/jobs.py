"""Job: one seed of a row on a data set, trained and evaluated in a folder where any command finds it again."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from adgcl.core.errors import AdgclError, ConfigError
from adgcl.core.locks import Holder, holder_of, is_locked, locked
from adgcl.core.safe_text import file_name
from adgcl.data.dataset import Dataset
from adgcl.experiments.planning import Plan, Request, plan
from adgcl.experiments.source import LoadedSource, Source
from adgcl.graphs.store.fingerprint import fingerprint
from adgcl.jobs.executor import Send, Work
from adgcl.protocols.base import ProtocolConfig, make_protocol
from adgcl.protocols.identity import claim, work_folder
from adgcl.protocols.seed_run import SeedRun
from adgcl.training.run_config import DataConfig
from adgcl.training.run_folder import RunFolder
from adgcl.training.trackers import Messenger, Tracker

# In `Job.take`: the folder of the job that is needed, rather than a figure of its training.
FOLDER = "folder"


@dataclass(eq=False)
class Job:
    """One seed of `request` on a data set; `values` are the settings being tried.

    If the job `needs` another, the settings in `take` come from the end of that one's training (or are its `FOLDER`),
    so it cannot be planned before. `protocol` applies to methods that do not name their own. `label` is what a person
    calls the work, where that is not the method.
    """

    request: Request
    data: LoadedSource
    seed: int
    work: Path
    protocol: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    needs: Job | None = None
    take: Mapping[str, str] = field(default_factory=dict)
    label: str = ""
    _result: SeedRun | None = field(default=None, repr=False)

    def __str__(self) -> str:
        work = f"{self.label or self.request.method or 'adgcl'}{in_words(self.values)}"
        return f"{work} on {self.data.name}{self._mode}, seed {self.seed}"

    @property
    def _mode(self) -> str:
        mode = self.request.flags.get("protocol", {}).get("mode")
        return f", {mode}" if mode else ""

    def __getstate__(self) -> dict[str, Any]:
        """On another machine everything that can be found again is."""
        found_again = {name for kind in type(self).__mro__ for name, it in vars(kind).items() if _is_cached(it)}
        state = {name: value for name, value in self.__dict__.items() if name not in found_again}
        return {**state, "_result": None}

    @property
    def description(self) -> str:
        """Everything that was asked for, so that the same job can be recognised in another process."""
        data = self.data.source if isinstance(self.data.source.data, str | Path) else self.data.name
        asked = (self.request, data, self.seed, self.protocol, self.values, self.take, self.label)
        return f"{asked!r} {self.needs.description if self.needs else ''}"

    @property
    def call(self) -> tuple[Work, *tuple[Any, ...]]:
        """What a worker calls to do it, with what it is given; only of a job that is ready."""
        return run_job, self.data.source, self.plan, self.folder

    @property
    def ready(self) -> bool:
        """Whether everything it needs is there."""
        return self.needs is None or self.needs.result() is not None

    @cached_property
    def plan(self) -> Plan:
        """Checked settings; only of a job that is ready."""
        return self._planned({**self.values, **self._taken()})

    @cached_property
    def outline(self) -> Plan:
        """Settings without what is taken from another job: enough to know what kind of work it is, and how much."""
        return self._planned(self.values) if self.take else self.plan

    @property
    def dataset(self) -> Dataset:
        """The data as the run sees it."""
        return self.data.seen(self.plan.run.data)

    @cached_property
    def folder(self) -> Path:
        """The folder of its state, shared by any command with the same settings."""
        return self._folder(self.plan.judging)

    @cached_property
    def wider(self) -> tuple[Path, ...]:
        """Folders of the same training evaluated in more ways, which hold everything this job would give."""
        return tuple(self._folder(judging) for judging in self.plan.protocol.wider())

    @cached_property
    def problem(self) -> AdgclError | None:
        """What is wrong with the settings of a ready job, if anything."""
        try:
            _ = self.folder, self.wider
        except AdgclError as error:
            return error
        return None

    def result(self) -> SeedRun | None:
        """The finished seed, wherever it was finished; one that cannot be read does not count."""
        if self._result is None and self.ready and self.problem is None:
            found = (SeedRun.load(folder) for folder in (self.folder, *self.wider))
            self._result = next(filter(None, found), None)
        return self._result

    @property
    def busy(self) -> bool:
        """Whether another process is doing it."""
        return any(is_locked(folder) for folder in (self.folder, *self.wider))

    @property
    def worker(self) -> Holder | None:
        """Who is doing it, of a job that is busy."""
        return next(filter(None, map(holder_of, (self.folder, *self.wider))), None)

    def forget(self) -> None:
        """Remove its state, unless another process is working on it."""
        if self.folder.exists():
            with locked(self.folder):
                shutil.rmtree(self.folder, ignore_errors=True)

    @cached_property
    def trained(self) -> float:
        """The share of its epochs that an earlier command has trained."""
        epochs = self.plan.run.training.epochs
        return min(len(RunFolder(self.folder).read_metrics()) / epochs, 1.0) if epochs else 0.0

    @property
    def has_begun(self) -> bool:
        """Whether any epoch has been trained."""
        return RunFolder(self.folder).metrics.exists()

    @property
    def figures(self) -> Mapping[str, str]:
        """The settings that come from figures of another job's training."""
        return {key: name for key, name in self.take.items() if name != FOLDER}

    def _planned(self, values: Mapping[str, Any]) -> Plan:
        request = self.request.reading(self.data.source).with_setting("training.seed", self.seed)
        for key, value in values.items():
            request = request.with_setting(key, value)
        return plan(self.data.content, request, protocol=self.protocol)

    def _folder(self, judging: ProtocolConfig) -> Path:
        # The settings of a run do not say how its data was divided and what its labels mean, nor do the graphs.
        source, place = self.data.source, self.work
        if source.split:
            place /= file_name("-".join(filter(None, ("split", source.split, source.column_digest(self.dataset)))))
        if source.task not in (None, "none"):
            place /= file_name(f"task-{source.task}")
        base = work_folder(place, self.dataset, self.plan.run, make_protocol(judging))
        return base / f"seed-{self.seed}"

    def _taken(self) -> dict[str, Any]:
        if self.needs is None:
            return {}
        result = self.needs.result()
        assert result is not None, "planned before the job it needs is finished"
        for name in self.figures.values():
            if name not in result.training:
                raise ConfigError(f"{self.needs} has no {name} to take.", "Let it train for at least one epoch.")
        figures = {key: round(result.training[name], 4) for key, name in self.figures.items()}
        return {**figures, **{key: str(self.needs.folder) for key in self.take if key not in figures}}


def run_job(source: Source, planned: Plan, folder: Path, send: Send) -> bool:
    """Train and evaluate one seed, with its folder locked; False if its result was already there."""
    dataset = load_cached(source, planned.run.data)
    protocol = planned.protocol
    with locked(folder):
        if SeedRun.load(folder) is not None:
            return False
        claim(folder.parent, planned.run, protocol, fingerprint(dataset.store))
        trackers: list[Tracker] = [Messenger(send), *planned.run.make_trackers(folder)]
        protocol.run_seed(dataset, planned.run, folder=folder, trackers=trackers)
        return True


def in_words(trial: Mapping[str, Any]) -> str:
    """The settings being tried, to be put behind what is done with them."""
    return "".join(f" {key.rpartition('.')[2]}={value}" for key, value in trial.items())


def _is_cached(attribute: object) -> bool:
    return isinstance(attribute, cached_property)


_last: dict[tuple[Source, str], Dataset] = {}


def load_cached(source: Source, config: DataConfig) -> Dataset:
    """The data of a job; recent ones are cached, since the next job often uses the same."""
    if not isinstance(source.data, str | Path):
        return source.load_for(config)
    key = (source, config.model_dump_json())
    if key not in _last:
        _last.clear()
        _last[key] = source.load_for(config)
    return _last[key]
