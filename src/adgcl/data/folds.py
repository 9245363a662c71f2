"""Folds: which of k parts each of n rows falls into, draw for draw as scikit-learn's splitters do it.

Importing scikit-learn's takes longer than importing torch, and would be waited for by every command that trains.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[np.intp]
Random = np.random.RandomState


def shuffled(seed: int | None) -> Random | None:
    """The random numbers that scikit-learn draws from a seed; None shuffles nothing."""
    return None if seed is None else Random(seed % 2**32)


def plain_folds(count: int, num_folds: int, random: Random | None = None) -> Rows:
    """The fold of every row, like `KFold`: parts of equal size, the first ones with one row more."""
    order = np.arange(count)
    if random is not None:
        random.shuffle(order)
    sizes = np.full(num_folds, count // num_folds)
    sizes[: count % num_folds] += 1
    folds = np.empty(count, dtype=np.intp)
    folds[order] = np.repeat(np.arange(num_folds), sizes)
    return folds


def stratified_folds_of(labels: npt.ArrayLike, num_folds: int, random: Random | None = None) -> Rows:
    """The fold of every row, like `StratifiedKFold`: each fold with as many rows of every class, give or take one."""
    _, first, code = np.unique(np.asarray(labels), return_index=True, return_inverse=True)
    # Classes are numbered in the order in which they appear.
    code = np.argsort(np.argsort(first))[code]
    in_order = np.sort(code)
    shares = np.stack([np.bincount(in_order[k::num_folds], minlength=len(first)) for k in range(num_folds)])
    folds = np.empty(len(code), dtype=np.intp)
    for label in range(len(first)):
        mine = np.repeat(np.arange(num_folds), shares[:, label])
        if random is not None:
            random.shuffle(mine)
        folds[code == label] = mine
    return folds


def taken_out(rows: Rows, share: float, random: Random) -> tuple[Rows, Rows]:
    """The rows that stay and the `share` that is taken out, like `train_test_split`."""
    count = math.ceil(share * len(rows))
    order = random.permutation(len(rows))
    return rows[order[count:]], rows[order[:count]]
