"""Members of a model as jobs, so that any executor can train them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from adgcl.core.locks import locked
from adgcl.data.dataset import Dataset
from adgcl.experiments.jobs import Job, load_cached
from adgcl.experiments.model.folder import WORK, member_file
from adgcl.experiments.model.members import Choices, Member, enrol
from adgcl.experiments.planning import Plan
from adgcl.experiments.source import LoadedSource, Source
from adgcl.jobs.executor import Send, Work
from adgcl.protocols.finetune import FinetuneConfig
from adgcl.protocols.fold_training import OneRun, train_fold
from adgcl.protocols.seed_run import SeedRun
from adgcl.training.checkpoints import save_networks
from adgcl.training.runs import describe_data
from adgcl.training.trackers import Messenger, Tracker
from adgcl.training.trainer import Trainer


def train_member(
    dataset: Dataset, member: Member, planned: Plan, folder: Path, number: int, tracker: Tracker
) -> SeedRun:
    """Train one member of the model in `folder`; its best epoch is kept as a file of the model."""
    assert isinstance(planned.judging, FinetuneConfig)
    run = planned.run.with_training(seed=member.seed)

    def keep(trainer: Trainer) -> None:
        save_networks(folder / member_file(number), trainer.method, run, trainer.position, trainer.data)

    course, place = planned.judging.course, _place(folder, number)
    return train_fold(dataset.store, member.part, run, course, place, tracker, describe_data(dataset), keep)


@dataclass(eq=False)
class MemberJob(Job):
    """The training of member `number` of a model."""

    planned: Plan | None = None
    model: Path = Path()
    choices: Choices = field(default_factory=Choices)
    members: int = 1

    @classmethod
    def of(
        cls, planned: Plan, data: LoadedSource, folder: Path, choices: Choices, number: int, members: int
    ) -> MemberJob:
        return cls(planned.request, data, number, folder / WORK, planned=planned, model=folder, choices=choices,
                   members=members)  # fmt: skip

    def __str__(self) -> str:
        return f"member {self.seed + 1} of {self.members} on {self.data.name}"

    @property
    def call(self) -> tuple[Work, *tuple[Any, ...]]:
        return train_member_job, self.data.source, self.plan, self.model, self.choices, self.seed

    @cached_property
    def plan(self) -> Plan:
        assert self.planned is not None
        return self.planned

    @cached_property
    def outline(self) -> Plan:
        return self.plan

    @cached_property
    def folder(self) -> Path:
        return _place(self.model, self.seed)

    @cached_property
    def wider(self) -> tuple[Path, ...]:
        return ()


def train_member_job(source: Source, planned: Plan, folder: Path, choices: Choices, number: int, send: Send) -> bool:
    """Train a member with its folder locked; False if it was already trained."""
    dataset = load_cached(source, planned.run.data)
    roster = enrol(dataset, source.split, choices.seeds, choices.folds, planned.run.training.seed)
    with locked(_place(folder, number)):
        if SeedRun.load(_place(folder, number)) is not None:
            return False
        # Beside the file of the member: what is below its own place goes when the model is finished.
        curves = planned.run.make_trackers(folder / f"member-{number}")
        tracker = OneRun([Messenger(send), *curves], 1)
        try:
            train_member(dataset, roster.members[number], planned, folder, number, tracker)
        finally:
            tracker.close()
        return True


def _place(folder: Path, number: int) -> Path:
    return folder / WORK / f"member-{number}"
