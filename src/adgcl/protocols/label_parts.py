"""Parts of a fold when only a share of its training graphs has labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from adgcl.core.errors import DataError
from adgcl.core.schema import Task
from adgcl.core.seeds import derived_rng
from adgcl.data.dataset import Dataset
from adgcl.data.folds import shuffled, stratified_folds_of
from adgcl.protocols import label_share
from adgcl.protocols.parts import Part, labels_of, scorable_parts
from adgcl.protocols.probes.checks import Labelled, check_labelled, check_split
from adgcl.protocols.probes.folds import fold_seed
from adgcl.protocols.selection import Mode
from adgcl.protocols.solvers.arrays import Floats, Ints

Validation = Literal["fold", "labels"]
# With fewer labels than this, none is spared to choose the epoch; with more, one in five is.
_FEWEST_TO_SPARE, _SPARED = 50, 5
_FEWEST_FOLDS = 3  # one to learn from, one that chooses the epoch, one that tests


def labelled_parts(
    dataset: Dataset, mode: Mode, seed: int, num_folds: int, rate: float, validation: Validation = "fold"
) -> list[Part]:
    """For every fold the graphs whose labels are shown, those that choose the epoch, and those that test.

    Graphs without labels are in no part. As published, the test part also chooses the epoch. In strict mode the fold
    before the test fold does, or, if `validation` is "labels", a fifth of the labels shown (none of fewer than 50: then
    the last epoch counts).
    """
    data = check_labelled(np.zeros((len(dataset), 1)), labels_of(dataset), dataset.task)
    _check_different(data)
    pools = _split_pools(dataset, data) if dataset.split is not None else _fold_pools(data, mode, seed, num_folds)
    if mode == "as_published":
        shares = _published_shares(data, [_whole(pool) for pool in pools], rate)
        return scorable_parts(dataset, [Part(s, pool.test, pool.test) for s, pool in zip(shares, pools, strict=True)])
    spare = validation == "labels"
    shares = _strict_shares(data, [_whole(pool) if spare else pool.train for pool in pools], seed, rate)
    chosen = [_spared(shown, data) if spare else (shown, pool.valid) for shown, pool in zip(shares, pools, strict=True)]
    parts = [Part(np.sort(shown), np.sort(valid), pool.test) for (shown, valid), pool in zip(chosen, pools)]
    return scorable_parts(dataset, parts)


def absent_classes(dataset: Dataset, parts: Sequence[Part]) -> list[str]:
    """A remark for each class of which some fold saw no label, because the class has too few graphs."""
    y, task = labels_of(dataset), dataset.task
    if task.kind == "regression" or y.shape[1] != 1:
        return []
    said = []
    for number, count in zip(*np.unique(y[~np.isnan(y)], return_counts=True), strict=True):
        without = sum(number not in y[part.train] for part in parts)
        if without:
            named = task.names[int(number)] if task.kind == "multiclass" and task.names else f"{number:g}"
            graphs = "1 labelled graph" if count == 1 else f"{count} labelled graphs"
            said.append(f"Class {named} has {graphs}: no label of it was shown in {without} of {len(parts)} folds.")
    return said


def _check_different(data: Labelled) -> None:
    if all(len(np.unique(column[np.isfinite(column)])) < 2 for column in data.y.T):
        raise DataError(
            "All labelled graphs have the same label: there is nothing to predict.",
            "Check which column of the table holds the labels.",
        )


def _split_pools(dataset: Dataset, data: Labelled) -> list[Part]:
    assert dataset.split is not None
    return [Part(**check_split(dict(dataset.split), data))]


def _fold_pools(data: Labelled, mode: Mode, seed: int, num_folds: int) -> list[Part]:
    """Folds over the labelled graphs: the test fold, the one before it, and the rest."""
    ids = np.flatnonzero(data.has_label)
    y, task = data.y[ids], data.task
    if len(ids) < 2 * num_folds:
        fewer = f", or use fewer folds with --set num_folds={_FEWEST_FOLDS}" if num_folds > _FEWEST_FOLDS else ""
        raise DataError(
            f"{len(ids)} labelled graphs are too few for {num_folds} folds.",
            f"Label at least {2 * num_folds} of them{fewer}.",
        )
    if mode == "as_published":
        folds = label_share.published_folds(y, task, num_folds)
    else:
        folds = stratified_folds_of(label_share.strata(y, task), num_folds, shuffled(fold_seed(seed, mode)))
    number = np.arange(num_folds)
    return [
        Part(ids[(folds != k) & (folds != (k - 1) % num_folds)], ids[folds == (k - 1) % num_folds], ids[folds == k])
        for k in number
    ]


def _whole(pool: Part) -> Ints:
    """Everything that is not tested, where no validation part is set aside."""
    return np.sort(np.concatenate((pool.train, pool.valid)))


def _published_shares(data: Labelled, trains: list[Ints], rate: float) -> list[Ints]:
    """The graphs of every fold whose labels are shown."""
    task = data.task
    shares = [label_share.published_share(data.y[train], task, rate) for train in trains]
    for train, share in zip(trains, shares, strict=True):
        if not label_share.teaches(data.y[train], task, share):
            fewer = range(round(1 / rate) - 1, 0, -1)
            works = next((k for k in fewer if all(_teaches(data.y[train], task, k) for train in trains)), 0)
            raise label_share.too_few(rate, len(share), len(train), task, 1 / works if works else 2.0, exact=True)
    return [train[share] for train, share in zip(trains, shares, strict=True)]


def _teaches(y: Floats, task: Task, parts: int) -> bool:
    return label_share.teaches(y, task, label_share.published_share(y, task, 1 / parts))


def _strict_shares(data: Labelled, trains: list[Ints], seed: int, rate: float) -> list[Ints]:
    """The same, drawn by the seed and in an order of which every beginning is stratified."""
    shares, smallest, fewest = [], 0.0, len(data.y)
    for fold, train in enumerate(trains):
        y = data.y[train]
        order = label_share.stratified_order(y, data.task, derived_rng(seed, "labels", fold))
        count, needed = label_share.share_size(len(train), rate), label_share.fewest_labels(y, data.task, order)
        smallest = max(smallest, needed / len(train))
        fewest = min(fewest, count) if count < needed else fewest
        shares.append(train[order[:count]])
    if fewest < len(data.y):
        raise label_share.too_few(rate, fewest, len(trains[0]), data.task, smallest)
    return shares


def _spared(shown: Ints, data: Labelled) -> tuple[Ints, Ints]:
    """The labels that teach and those that choose the epoch: the beginning and the end of a stratified order.

    The beginning has every class: a rare one may come late.
    """
    needed = label_share.fewest_labels(data.y[shown], data.task, np.arange(len(shown)))
    spared = min(len(shown) // _SPARED, len(shown) - needed) if len(shown) >= _FEWEST_TO_SPARE else 0
    return shown[: len(shown) - spared], shown[len(shown) - spared :]
