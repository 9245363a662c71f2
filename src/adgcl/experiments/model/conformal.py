"""Conformal intervals: bands around predictions that hold a promised share of new values.

From held-out values come scores `|y - mean| / scale`. A band `mean +- q scale`, with `q` the right quantile of the
scores, holds at least the promised share of values that are drawn as the held-out ones were (Vovk et al. 2005). The
scale is 1, or grows with the members' spread or with the distance to the training graphs (locally adaptive), whichever
makes the best bands for held-out groups that did not set them. Where a split keeps scaffolds apart, new molecules are
meant to have new scaffolds, so the groups of this choice are scaffolds.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import ceil
from typing import Any, ClassVar, Literal

import numpy as np

from adgcl.core.trees import SCHEMA, fitted
from adgcl.protocols.solvers.arrays import Floats, Ints

# What may say that a prediction is less certain than others.
Signal = Literal["spread", "distance"]
# What a scale starts from, in medians of the signal: the less it is, the more the bands differ in width.
_FLOORS = (0.5, 1.0, 2.0)
_FOLDS = 5
_JUDGED_AT = 0.9
_FEWEST_FOR_CHOICE = 25


@dataclass(frozen=True)
class Intervals:
    """The scores of one task's held-out values in ascending order; `floor` is None for bands of one width.

    Adaptive bands have the scale `floor + spread`, as members that agree by chance are not yet certain, or
    `floor + distance`.
    """

    scores: tuple[float, ...]
    floor: float | None = None
    by: Signal = "spread"

    __pydantic_config__: ClassVar = SCHEMA

    def promises(self, coverage: float) -> bool:
        """Whether enough labels were held out for bands of this coverage."""
        return self._place(coverage) <= len(self.scores)

    @property
    def most(self) -> float:
        """The largest coverage, in steps of 0.01, that can be promised."""
        return int(len(self.scores) / (len(self.scores) + 1) * 100) / 100

    def half_width(self, coverage: float, spread: Floats, distance: Floats) -> Floats:
        """How far a band of this coverage reaches from each prediction; NaN if it cannot be promised."""
        if not self.promises(coverage):
            return np.full_like(spread, np.nan)
        return self.scores[self._place(coverage) - 1] * _scale(
            {"spread": spread, "distance": distance}[self.by], self.floor
        )

    def _place(self, coverage: float) -> int:
        return ceil((len(self.scores) + 1) * coverage)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, tree: Any) -> Intervals:
        """What `to_json` gave, checked."""
        return fitted(cls, tree)


def fit_intervals(y: Floats, mean: Floats, spread: Floats, distance: Floats, group: Ints) -> Intervals:
    """From one task's held-out labels (NaN for missing), predictions, spreads (NaN for a single member), distances, and
    the numbers of the groups in which graphs were held out.

    Distances are those to the graphs that were trained on; NaN where held-out graphs are among these for other members.
    """
    known = ~np.isnan(y)
    residual = np.abs(y - mean)[known]
    signals: dict[Signal, Floats] = {"spread": spread[known], "distance": distance[known]}
    choices: list[tuple[Floats, float | None, Signal]] = [(signals["spread"], None, "spread")]
    if len(residual) >= _FEWEST_FOR_CHOICE and len(np.unique(group[known])) >= _FOLDS:
        choices += [(signal, floor, by) for by, signal in signals.items() for floor in _floors(signal)]
    if len(choices) == 1:
        return _fitted(residual, *choices[0])
    folds = _folds(group[known])
    losses = [_held_out_loss(residual, folds, *choice) for choice in choices]
    return _fitted(residual, *choices[int(np.argmin(losses))])


def interval_loss(residual: Floats, half_width: Floats, coverage: float) -> float:
    """The interval score of Gneiting and Raftery (2007): the width, and what a value outside costs; low is good."""
    outside = np.maximum(residual - half_width, 0.0)
    return float(np.mean(2 * half_width + 2 / (1 - coverage) * outside))


def _folds(group: Ints) -> Ints:
    """A fold for every value, that of its group; folds are of about the same size."""
    from sklearn.model_selection import GroupKFold

    fold = np.empty(len(group), dtype=np.int64)
    for k, (_, held) in enumerate(GroupKFold(_FOLDS).split(group, groups=group)):
        fold[held] = k
    return fold


def _held_out_loss(residual: Floats, fold: Ints, signal: Floats, floor: float | None, by: Signal) -> float:
    """The interval score of bands that are fitted on the other folds, on average over values."""
    total = 0.0
    for k in range(_FOLDS):
        held = fold == k
        width = _fitted(residual[~held], signal[~held], floor, by).half_width(_JUDGED_AT, signal[held], signal[held])
        total += interval_loss(residual[held], width, _JUDGED_AT) * held.sum()
    return total / len(residual)


def _fitted(residual: Floats, signal: Floats, floor: float | None, by: Signal) -> Intervals:
    scores = np.sort(residual / _scale(signal, floor))
    return Intervals(tuple(float(f"{score:.7g}") for score in scores), floor, by)


def _floors(signal: Floats) -> list[float]:
    """What a scale may start from; nothing where the signal says nothing."""
    if not len(signal) or np.isnan(signal).any() or not np.median(signal) > 0:
        return []
    return [float(f"{share * np.median(signal):.7g}") for share in _FLOORS]


def _scale(signal: Floats, floor: float | None) -> Floats:
    return np.ones_like(signal) if floor is None else floor + signal
