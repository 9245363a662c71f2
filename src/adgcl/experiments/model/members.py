"""Members: which networks make up a model, and the graphs that train, choose and test each of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from adgcl.core.errors import ConfigError, DataError
from adgcl.data.dataset import Dataset
from adgcl.data.splits import divided
from adgcl.graphs.chem.scaffolds import scaffolds
from adgcl.protocols.fold_training import network_seed
from adgcl.protocols.parts import Part, fold_parts
from adgcl.protocols.solvers.arrays import Ints

DEFAULT_SEEDS = 3
_CV_FOLDS = 5


@dataclass(frozen=True)
class Choices:
    """What a user may say about a model besides its settings: seeds or folds, and the unit of its labels."""

    seeds: int | None = None
    folds: int | None = None
    unit: str = ""


@dataclass(frozen=True)
class Member:
    """One network to train: what it is called, what decides its random numbers, and its parts of the data."""

    name: str
    seed: int
    part: Part


@dataclass(frozen=True)
class Roster:
    """The members of a model; with `shared` parts all of them are held out on the same graphs."""

    members: tuple[Member, ...]
    split: str
    shared: bool

    def held_out(self, which: str) -> list[np.ndarray]:
        """The validation or test graphs of every member."""
        return [getattr(member.part, which) for member in self.members]


def enrol(dataset: Dataset, split: str | None, seeds: int | None, folds: int | None, first: int = 0) -> Roster:
    """Several seeds on one split (the data's own, or by scaffold, or at random), or one member for each of some folds.

    Seed `s` and fold `k` are the same networks as those of the fine-tuning protocol.
    """
    if folds and split not in (None, "cv"):
        raise ConfigError(
            f"Both --split {split} and --folds were given.",
            "Leave one out: folds are drawn at random, whatever the scaffolds and the data's own split.",
        )
    if folds is None and split == "cv":
        folds = _CV_FOLDS
    if seeds and folds:
        raise ConfigError(
            "Both --seeds and --folds (or --split cv) were given.", "Choose one: members differ in seed, or in fold."
        )
    try:
        if folds:
            parts = fold_parts(replace(dataset, split=None), "strict", first, folds)
            members = [Member(f"fold {k}", network_seed(first, k), part) for k, part in enumerate(parts)]
            return Roster(tuple(members), f"{len(parts)} folds", shared=False)
        name, divided_set = _with_split(dataset, split)
        (part,) = fold_parts(divided_set, "strict", first, 2)
    except DataError as error:
        raise DataError(error.message, _TOO_SMALL) from error
    numbers = range(first, first + (seeds or DEFAULT_SEEDS))
    members = [Member(f"seed {seed}", network_seed(seed), part) for seed in numbers]
    return Roster(tuple(members), name, shared=True)


_TOO_SMALL = (
    "The training, validation and test part each need labels, for yes-or-no labels of both kinds. Try --split random, "
    "--folds 3, or a split column of your own; or add labelled rows."
)


def _with_split(dataset: Dataset, asked: str | None) -> tuple[str, Dataset]:
    if dataset.split is not None:
        return asked or "its own", dataset
    how = "scaffold" if dataset.smiles is not None else "random"
    return how, divided(dataset, how)


def held_out_groups(dataset: Dataset, roster: Roster) -> Ints:
    """The group in which each graph was held out: its scaffold where validation graphs share none with training graphs.

    Elsewhere every graph is a group of its own. Only bands for values ask for groups.
    """
    alone = np.arange(len(dataset))
    if dataset.smiles is None or dataset.task.kind != "regression" or not roster.shared:
        return alone
    _, scaffold = np.unique(np.array(scaffolds(dataset.smiles), dtype=str), return_inverse=True)
    part = roster.members[0].part
    return alone if np.isin(scaffold[part.valid], scaffold[part.train]).any() else scaffold
