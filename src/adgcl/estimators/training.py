"""Training members in memory: as in the fine-tuning protocol, but without a folder."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral

import numpy as np
from torch import Tensor

from adgcl.core.errors import ConfigError
from adgcl.core.seeds import derived_seed
from adgcl.data.dataset import Dataset
from adgcl.experiments.planning import Plan
from adgcl.graphs.store.store import GraphStore
from adgcl.protocols.finetune import FinetuneConfig
from adgcl.protocols.fold_training import OneRun, network_seed, train_fold
from adgcl.protocols.parts import Part
from adgcl.protocols.solvers.arrays import Ints
from adgcl.training.checkpoints import Position
from adgcl.training.run_config import RunConfig
from adgcl.training.runs import LoadedRun, describe_data
from adgcl.training.trackers import ProgressBar
from adgcl.training.trainer import Trainer


def train_members(dataset: Dataset, planned: Plan, members: int, validation: float, verbose: bool) -> list[LoadedRun]:
    """Networks from several seeds, each with the weights of the epoch that counts."""
    if not isinstance(members, Integral) or members < 1:
        raise ConfigError(f"members = {members!r}.", "Give a whole number, at least 1.")
    if not 0 <= validation < 1:
        raise ConfigError(f"validation = {validation:g}.", "Give the share of rows to hold out, such as 0.1, or 0.")
    assert isinstance(planned.judging, FinetuneConfig)
    course, run = planned.judging.course, planned.run
    part = _part(dataset.store, validation, run.training.seed)
    if not len(part.valid):
        course = replace(course, rule="last_epoch", patience=0)
    tracker = OneRun([ProgressBar("finetune", enabled=verbose)], members)
    kept = []
    try:
        for number in range(members):
            tracker.fold = number
            own = run.with_training(seed=network_seed(run.training.seed + number))
            keeper = _Keeper(own)
            train_fold(dataset.store, part, own, course, None, tracker, describe_data(dataset), keeper)
            kept.append(keeper.run())
    finally:
        tracker.close()
    return kept


class _Keeper:
    """Remembers the weights of the epoch that counts so far."""

    def __init__(self, run: RunConfig) -> None:
        self.config = run
        self.weights: dict[str, Tensor] = {}
        self.position = Position()

    def __call__(self, trainer: Trainer) -> None:
        self.trainer, self.position = trainer, Position(trainer.position.epoch)
        self.weights = {name: value.clone() for name, value in trainer.method.state_dict().items()}

    def run(self) -> LoadedRun:
        """The trained network, as if it had been saved and loaded."""
        self.trainer.method.load_state_dict(self.weights)
        made = LoadedRun.of(self.trainer)
        return replace(made, checkpoint=replace(made.checkpoint, position=self.position))


def _part(store: GraphStore, validation: float, seed: int) -> Part:
    """Labelled rows, of which a share chooses the epoch: stratified where there is one column of classes."""
    from sklearn.model_selection import train_test_split

    assert store.y is not None
    ids, nothing = np.flatnonzero(~np.isnan(store.y).all(axis=1)), np.zeros(0, dtype=np.intp)
    if not validation or len(ids) < 2:
        return Part(ids, nothing, nothing)
    one_column = store.task.kind != "regression" and store.y.shape[1] == 1
    train, valid = train_test_split(
        ids,
        test_size=_held(validation, len(ids)),
        random_state=derived_seed(seed, "validation") % 2**32,
        stratify=_strata(store, ids, validation) if one_column else None,
    )
    return Part(np.sort(train), np.sort(valid), nothing)


def _strata(store: GraphStore, ids: Ints, validation: float) -> Ints | None:
    """The classes of the rows, if both parts have room for all of them."""
    assert store.y is not None
    classes = store.y[ids, 0].astype(np.intp)
    sizes = np.unique(classes, return_counts=True)[1]
    held = _held(validation, len(ids))
    return classes if sizes.min() >= 2 and min(held, len(ids) - held) >= len(sizes) else None


def _held(validation: float, count: int) -> int:
    """How many of the rows choose the epoch; at least one is left to train."""
    return min(int(np.ceil(validation * count)), count - 1)
