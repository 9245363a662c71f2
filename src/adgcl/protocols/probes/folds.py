"""Which graphs train, choose the penalty, validate and test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from adgcl.core.errors import DataError
from adgcl.core.seeds import derived_seed
from adgcl.data.folds import Random, plain_folds, shuffled, stratified_folds_of, taken_out
from adgcl.protocols.probes.checks import Labelled
from adgcl.protocols.solvers.arrays import Floats, Ints, Mask

Mode = Literal["as_published", "strict"]

_INNER_FOLDS = 5
_VALID_SHARE = 0.2
_FEWEST_GRAPHS = 4


@dataclass(frozen=True)
class Folds:
    """Masks over n graphs: f outer folds, and in each s fits that choose the penalty.

    `train`, `valid`, `test` are `[f, n]`. Fit j of fold i trains on `fit[i, j]` and is scored on `held[i, j]`
    (`[f, s, n]`; within a fold the held parts do not overlap). The features of such a fit are standardised
    by its own training part if `scale_inside`, else by the whole training part of the fold.
    """

    train: Mask
    valid: Mask
    test: Mask
    fit: Mask
    held: Mask
    scale_inside: bool

    @property
    def scale_on(self) -> Mask:
        """The graphs that standardise each fit, `[f, s, n]`."""
        if self.scale_inside:
            return self.fit
        return np.broadcast_to(self.train[:, None, :], self.fit.shape)


def fold_seed(seed: int, mode: Mode, epoch: int = 0) -> int:
    """What decides the folds of a run; as published also the epoch, since the authors redraw folds every time."""
    place = ("folds", epoch) if mode == "as_published" else ("folds",)
    return derived_seed(seed, *place) % (1 << 32)


def cross_validation(data: Labelled, mode: Mode, seed: int, num_folds: int) -> Folds:
    """Outer folds over all graphs: 72/18/10 at random as published, or stratified 90/10 in strict mode."""
    n = len(data.y)
    if n < _FEWEST_GRAPHS:
        raise DataError(
            f"Only {n} labelled graphs: too few for cross-validation.",
            f"At least {_FEWEST_GRAPHS} are needed.",
        )
    if data.single_class_column and len(np.unique(data.y)) < 2:
        raise DataError("All labelled graphs have the same label: there is nothing to predict.")
    strict = mode == "strict"
    parts = _strict_parts(data, seed, num_folds) if strict else _published_parts(n, seed, num_folds)
    train, valid, test = (np.stack([_mask(n, part[i]) for part in parts]) for i in range(3))
    inner = [_inner_masks(data, part[0], mode, seed) for part in parts]
    fit, held = (_stack_padded([pair[i] for pair in inner]) for i in range(2))
    return Folds(train, valid, test, fit, held, scale_inside=strict)


def given_split(data: Labelled, ids: Mapping[str, Ints], mode: Mode) -> Folds:
    """One fold from a fixed split; inner folds of train choose the penalty, or valid does if strict."""
    n = len(data.y)
    train, valid, test = (_mask(n, ids[part])[None] for part in ("train", "valid", "test"))
    if mode == "strict":
        return Folds(train, valid, test, train[None], valid[None], scale_inside=True)
    fit, held = _inner_masks(data, ids["train"], mode, 0)
    return Folds(train, valid, test, fit[None], held[None], scale_inside=False)


def given_parts(data: Labelled, parts: Sequence[tuple[Ints, Ints]], seed: int) -> Folds:
    """One fold for each pair of training and test graphs; inner folds of the training part choose the penalty."""
    n = len(data.y)
    train, test = (np.stack([_mask(n, part[i]) for part in parts]) for i in range(2))
    inner = [_inner_masks(data, part[0], "strict", seed) for part in parts]
    fit, held = (_stack_padded([pair[i] for pair in inner]) for i in range(2))
    return Folds(train, np.zeros_like(train), test, fit, held, scale_inside=True)


def _published_parts(n: int, seed: int, num_folds: int) -> list[tuple[Ints, Ints, Ints]]:
    """Shuffled folds, not stratified; a random fifth of the rest is for validation."""
    random = Random(seed % 2**32)
    count = min(num_folds, n)
    ids = plain_folds(n, count, random)
    parts = []
    for k in range(count):
        train, valid = taken_out(np.flatnonzero(ids != k), _VALID_SHARE, random)
        parts.append((train, valid, np.flatnonzero(ids == k)))
    return parts


def _strict_parts(data: Labelled, seed: int, num_folds: int) -> list[tuple[Ints, Ints, Ints]]:
    """Folds stratified by class; validation happens inside the training part, so nothing is set aside."""
    labels = data.y[:, 0] if data.single_class_column else None
    count = _num_folds(num_folds, len(data.y), labels, data.task.metric == "rocauc")
    if count < 2:
        raise DataError(
            "A class has a single graph, so it cannot be in both training and test folds.",
            "Add graphs of that class, or leave it out.",
        )
    none = np.zeros(0, dtype=np.intp)
    ids = _assign(len(data.y), labels, count, seed)
    return [(np.flatnonzero(ids != k), none, np.flatnonzero(ids == k)) for k in range(count)]


def _inner_masks(data: Labelled, train: Ints, mode: Mode, seed: int) -> tuple[Mask, Mask]:
    """The fits that choose the penalty inside one training part (`[s, n]` twice): shuffled if strict.

    As published, folds follow the order of the ids, and several binary tasks search nothing.
    """
    labels = data.y[train, 0] if data.single_class_column else None
    count = _num_folds(_INNER_FOLDS, len(train), labels, data.task.metric == "rocauc")
    if count < 2:  # no class is large enough to spread over folds
        labels, count = None, min(_INNER_FOLDS, len(train))
    if count < 2 or (mode == "as_published" and data.several_binary):
        return np.zeros((0, len(data.y)), dtype=bool), np.zeros((0, len(data.y)), dtype=bool)
    ids = _assign(len(train), labels, count, seed if mode == "strict" else None)
    held = np.stack([_mask(len(data.y), train[ids == k]) for k in range(count)])
    return _mask(len(data.y), train) & ~held, held


def _num_folds(wanted: int, n: int, labels: Floats | None, needs_both: bool) -> int:
    """As many folds as requested, or fewer: a score that needs both classes needs both in every fold."""
    if labels is None:
        return min(wanted, n)
    sizes = np.unique(labels, return_counts=True)[1]
    return min(wanted, int(sizes.min() if needs_both else sizes.max()))


def _assign(n: int, labels: Floats | None, count: int, seed: int | None) -> Ints:
    """The fold of every position: stratified by labels if there are any, shuffled if there is a seed."""
    random = shuffled(seed)
    return plain_folds(n, count, random) if labels is None else stratified_folds_of(labels, count, random)


def _mask(n: int, ids: Ints) -> Mask:
    mask = np.zeros(n, dtype=bool)
    mask[ids] = True
    return mask


def _stack_padded(masks: list[Mask]) -> Mask:
    """Stack `[s_i, n]` masks; folds with fewer fits get empty ones, which no score uses."""
    most = max(len(m) for m in masks)
    return np.stack([np.pad(m, ((0, most - len(m)), (0, 0))) for m in masks])
