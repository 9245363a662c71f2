"""The share of a training part whose labels are shown: drawn as published, or afresh for every seed."""

from __future__ import annotations

import math

import numpy as np

from adgcl.core.errors import ConfigError, DataError
from adgcl.core.schema import Task
from adgcl.data.folds import plain_folds, shuffled, stratified_folds_of
from adgcl.protocols.solvers.arrays import Floats, Ints

# The seed of every published fold and share.
PUBLISHED_SEED = 12345
# Real values are ranked into this many classes, so that a small share covers their range.
_BINS = 10


def strata(y: Floats, task: Task) -> Ints:
    """The class of every graph, or the tenth its value lies in; with several tasks there is nothing to stratify by."""
    if y.shape[1] != 1:
        return np.zeros(len(y), dtype=np.intp)
    if task.kind != "regression":
        return y[:, 0].astype(np.intp)
    ranks = np.argsort(np.argsort(y[:, 0], kind="stable"), kind="stable")
    return (ranks * _BINS // len(y)).astype(np.intp)


def published_folds(y: Floats, task: Task, num_folds: int) -> Ints:
    """The fold of every graph with the published seed: stratified by class, or shuffled where there is no class."""
    if task.kind == "regression" or y.shape[1] != 1:
        return plain_folds(len(y), num_folds, shuffled(PUBLISHED_SEED))
    return stratified_folds_of(y[:, 0], num_folds, shuffled(PUBLISHED_SEED))


def printed(rate: float) -> str:
    """A rate as messages show it. One of several equal parts is recognised by these digits: 0.3333 is a third."""
    return f"{rate:.4g}"


def published_share(y: Floats, task: Task, rate: float) -> Ints:
    """The first of `1 / rate` folds of the training part `y`: the same graphs in every repeat."""
    parts = round(1 / rate)
    if printed(rate) != printed(1 / parts):
        raise ConfigError(
            f"As published, the share of labels is one of several equal parts; {rate:g} is not.",
            f"Use label_rate={printed(1 / parts)}, or mode strict, which takes any share.",
        )
    return np.arange(len(y)) if parts == 1 else np.flatnonzero(published_folds(y, task, parts) == 0)


def stratified_order(y: Floats, task: Task, random: np.random.Generator) -> Ints:
    """An order in which every beginning has all classes in proportion, so that a larger share contains a smaller."""
    classes = strata(y, task)
    order = random.permutation(len(y))
    kinds = classes[order]
    by_class = np.argsort(kinds, kind="stable")
    counts = np.bincount(kinds)
    rank = np.empty(len(y), dtype=np.intp)
    rank[by_class] = np.arange(len(y)) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.asarray(order[np.argsort((rank + 0.5) / counts[kinds], kind="stable")], dtype=np.intp)


def share_size(count: int, rate: float) -> int:
    """How many of `count` graphs a share has."""
    return round(rate * count)


def fewest_labels(y: Floats, task: Task, order: Ints) -> int:
    """How long a beginning of `order` must be to have every class of `y`, or two different values.

    Longer than `order` if all labels of `y` are the same. With several tasks one label has to do: each of them may have
    its own graphs.
    """
    if y.shape[1] != 1:
        return 1
    _, first = np.unique(y[order, 0], return_index=True)
    if len(first) < 2:
        return len(order) + 1
    needed = np.sort(first)[:2] if task.kind == "regression" else first
    return int(needed.max()) + 1


def teaches(y: Floats, task: Task, share: Ints) -> bool:
    """Whether a share of `y` has every class, or two different values."""
    rest = np.setdiff1d(np.arange(len(y)), share)
    return fewest_labels(y, task, np.concatenate((share, rest))) <= len(share)


def too_few(rate: float, labelled: int, graphs: int, task: Task, smallest: float, exact: bool = False) -> DataError:
    """The error for a rate at which some fold has too few labels, with the smallest one that works.

    It is `exact` where a larger one need not work.
    """
    lacks = f"all {task.num_classes or 2} classes" if task.kind != "regression" else "different values"
    found = {0: "no labelled graph", 1: "1 labelled graph"}.get(labelled, f"{labelled} labelled graphs")
    problem = f"With labels for {100 * rate:g} % of {graphs} training graphs, a fold has {found} and not {lacks}"
    if smallest > 1:
        advice = "Label more graphs, or use fewer folds with --set num_folds=3."
        return DataError(f"{problem}, and no share would be enough.", advice)
    works = printed(smallest) if exact else f"{math.ceil(1e4 * smallest - 1e-9) / 1e4:g}"
    advice = f"Use --set label_rate={works}{'' if exact else ' or more'}."
    return DataError(f"{problem}; the smallest share that works is {100 * float(works):g} %.", advice)
