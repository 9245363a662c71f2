"""Ways to divide a data set: by scaffold (as OGB and Hu et al. do), at random, in stratified folds."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from adgcl.core.errors import DataError
from adgcl.core.progress import Count
from adgcl.data.dataset import Dataset
from adgcl.data.folds import shuffled, stratified_folds_of
from adgcl.graphs.chem.scaffolds import scaffolds

Parts = dict[str, npt.NDArray[np.int64]]
# Begins the names of parts that only `as_published` uses.
PUBLISHED = "published_"

FRACTIONS = (0.8, 0.1, 0.1)
# Ways to divide any data set, whatever split it comes with; `cv` is cross-validation.
SPLITS = ("scaffold", "random", "stratified", "cv")
_FIFTHS = 5


def split_digest(split: Mapping[str, npt.NDArray[np.integer]] | None) -> str:
    """A short text that differs where the parts do; empty for data without a split."""
    if split is None:
        return ""
    digest = hashlib.sha256()
    for name in sorted(split):
        digest.update(name.encode() + np.asarray(split[name], dtype=np.int64).tobytes())
    return digest.hexdigest()[:10]


def scaffold_split(
    smiles: Sequence[str],
    fractions: Sequence[float] = FRACTIONS,
    *,
    workers: int | None = None,
    progress: Count | None = None,
) -> Parts:
    """Split molecules so that no Bemis-Murcko scaffold (with chirality) is in two parts; nothing is random.

    Scaffold groups are taken by size, then first index, both descending: into train while they fit, else
    into valid while they fit, else into test. This gives OGB's own split files. Text that is not a SMILES
    forms its own group.
    """
    _check(len(smiles), fractions)
    groups: dict[str, list[int]] = {}
    for index, scaffold in enumerate(scaffolds(smiles, workers, progress)):
        groups.setdefault(f"unreadable {index}" if scaffold is None else scaffold, []).append(index)
    train_end = fractions[0] * len(smiles)
    valid_end = (fractions[0] + fractions[1]) * len(smiles)
    train: list[int] = []
    valid: list[int] = []
    test: list[int] = []
    for group in sorted(groups.values(), key=lambda group: (len(group), group[0]), reverse=True):
        if len(train) + len(group) <= train_end:
            train += group
        elif len(train) + len(valid) + len(group) <= valid_end:
            valid += group
        else:
            test += group
    return _parts(train, valid, test)


def divided(dataset: Dataset, how: str) -> Dataset:
    """`dataset` with a split of the kind `how` in place of its own; with `cv` it has none and is cross-validated."""
    if how == "cv":
        return replace(dataset, split=None)
    if how == "random":
        return replace(dataset, split=random_split(len(dataset)))
    if how == "stratified":
        return replace(dataset, split=stratified_split(dataset))
    if dataset.smiles is None:
        raise DataError(
            f"{dataset.name} has no SMILES, so it has no scaffolds.", "Use --split random, stratified or cv."
        )
    split = scaffold_split(dataset.smiles)
    if not len(split["train"]):
        raise DataError(
            f"Too many molecules of {dataset.name} have the same scaffold: a scaffold split leaves none to train on.",
            "Use --split random or --split cv.",
        )
    return replace(dataset, split=split)


def random_split(count: int, fractions: Sequence[float] = FRACTIONS, seed: int = 0) -> Parts:
    """Split `count` graphs at random; the same seed gives the same split."""
    _check(count, fractions)
    order = np.random.default_rng(seed).permutation(count)
    # The small addition keeps 0.8 + 0.1 of 10 at 9 whatever the rounding of the sum.
    train_end = int(fractions[0] * count + 1e-9)
    valid_end = int((fractions[0] + fractions[1]) * count + 1e-9)
    return _parts(order[:train_end], order[train_end:valid_end], order[valid_end:])


def stratified_split(dataset: Dataset, seed: int = 0) -> Parts:
    """Three fifths to train, a fifth to validate and one to test, each with the same mix of classes.

    Where labels are not one column of classes, it is a random split of those sizes.
    """
    y = dataset.store.y
    if y is None or y.shape[1] != 1 or dataset.task.kind not in ("binary", "multiclass"):
        return random_split(len(dataset), (0.6, 0.2, 0.2), seed)
    return stratified_folds(y, _FIFTHS, seed, valid_fold=True)[0]


def stratified_folds(y: npt.ArrayLike, num_folds: int = 10, seed: int = 0, valid_fold: bool = False) -> list[Parts]:
    """`num_folds` divisions in train and test, each test part with the same mix of classes.

    With `valid_fold` the fold after the test fold is taken out of train, as `valid`; else valid is empty.
    """
    labels = np.asarray(y).reshape(-1)
    if not 2 <= num_folds <= len(labels):
        raise DataError(f"{len(labels)} graphs cannot be divided into {num_folds} folds.", "Choose 2 folds or more.")
    folds = stratified_folds_of(labels, num_folds, shuffled(seed))
    tests = [np.flatnonzero(folds == k) for k in range(num_folds)]
    nothing = np.empty(0, dtype=np.int64)
    valids = tests[1:] + tests[:1] if valid_fold else [nothing] * num_folds
    everything = np.arange(len(labels))
    return [
        _parts(np.setdiff1d(everything, np.concatenate([valid, test])), valid, test)
        for valid, test in zip(valids, tests, strict=True)
    ]


def published_parts(split: Mapping[str, npt.NDArray[np.int64]]) -> Parts:
    """The parts that made published figures, where a split holds them beside its own."""
    return {part: split.get(f"{PUBLISHED}{part}", ids) for part, ids in split.items()}


def restricted(split: Parts, kept: npt.NDArray[np.int64]) -> Parts:
    """A split of all input rows as one of the graphs that remain when only the rows `kept` became graphs."""
    return {name: np.flatnonzero(np.isin(kept, rows)) for name, rows in split.items()}


def _check(count: int, fractions: Sequence[float]) -> None:
    if count < 1:
        raise DataError("There is nothing to split.")
    if len(fractions) != 3 or min(fractions) < 0 or abs(sum(fractions) - 1) > 1e-6:
        raise DataError(
            f"The split fractions {tuple(fractions)} are not three numbers that sum to 1.",
            "Give for example (0.8, 0.1, 0.1).",
        )


def _parts(train: npt.ArrayLike, valid: npt.ArrayLike, test: npt.ArrayLike) -> Parts:
    named = (("train", train), ("valid", valid), ("test", test))
    return {name: np.sort(np.asarray(rows, dtype=np.int64)) for name, rows in named}
