"""Conformal intervals: bands around predictions that hold a promised share of new values.

From held-out values come scores `|y - mean| / scale`. A band `mean +- q scale`, with `q` the right quantile of the
scores, holds at least the promised share of values that are drawn as the held-out ones were (Vovk et al. 2005). The
scale is 1, or grows with the members' spread (locally adaptive), whichever makes the better bands on held-out data.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import ceil
from typing import Any, ClassVar

import numpy as np

from adgcl.core.trees import SCHEMA, fitted
from adgcl.protocols.solvers.arrays import Floats

_FOLDS = 5
_JUDGED_AT = 0.9
_FEWEST_FOR_CHOICE = 25


@dataclass(frozen=True)
class Intervals:
    """The scores of one task's held-out values in ascending order; `floor` is None for bands of one width.

    Adaptive bands have the scale `floor + spread`: where all members agree by chance they are not yet certain.
    """

    scores: tuple[float, ...]
    floor: float | None = None

    __pydantic_config__: ClassVar = SCHEMA

    def promises(self, coverage: float) -> bool:
        """Whether enough labels were held out for bands of this coverage."""
        return self._place(coverage) <= len(self.scores)

    @property
    def most(self) -> float:
        """The largest coverage, in steps of 0.01, that can be promised."""
        return int(len(self.scores) / (len(self.scores) + 1) * 100) / 100

    def half_width(self, coverage: float, spread: Floats) -> Floats:
        """How far a band of this coverage reaches from each prediction; NaN if it cannot be promised."""
        if not self.promises(coverage):
            return np.full_like(spread, np.nan)
        return self.scores[self._place(coverage) - 1] * _scale(spread, self.floor)

    def _place(self, coverage: float) -> int:
        return ceil((len(self.scores) + 1) * coverage)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, tree: Any) -> Intervals:
        """What `to_json` gave, checked."""
        return fitted(cls, tree)


def fit_intervals(y: Floats, mean: Floats, spread: Floats) -> Intervals:
    """From one task's held-out labels (NaN for missing), predictions and spreads (NaN for a single member)."""
    known = ~np.isnan(y)
    residual, spread = np.abs(y - mean)[known], spread[known]
    floor = _floor(spread)
    if floor is None or len(residual) < _FEWEST_FOR_CHOICE:
        return _fitted(residual, spread, None)
    plain, adaptive = (_held_out_loss(residual, spread, choice) for choice in (None, floor))
    return _fitted(residual, spread, floor if adaptive < plain else None)


def interval_loss(residual: Floats, half_width: Floats, coverage: float) -> float:
    """The interval score of Gneiting and Raftery (2007): the width, and what a value outside costs; low is good."""
    outside = np.maximum(residual - half_width, 0.0)
    return float(np.mean(2 * half_width + 2 / (1 - coverage) * outside))


def _held_out_loss(residual: Floats, spread: Floats, floor: float | None) -> float:
    """The interval score of bands that are fitted on some of the values and scored on the others."""
    fold = np.random.default_rng(0).permutation(len(residual)) % _FOLDS
    losses = []
    for k in range(_FOLDS):
        fitted = _fitted(residual[fold != k], spread[fold != k], floor)
        width = fitted.half_width(_JUDGED_AT, spread[fold == k])
        losses.append(interval_loss(residual[fold == k], width, _JUDGED_AT))
    return float(np.mean(losses))


def _fitted(residual: Floats, spread: Floats, floor: float | None) -> Intervals:
    scores = np.sort(residual / _scale(spread, floor))
    return Intervals(tuple(float(f"{score:.7g}") for score in scores), floor)


def _floor(spread: Floats) -> float | None:
    if not len(spread) or np.isnan(spread).any() or not np.median(spread) > 0:
        return None
    return float(f"{np.median(spread):.7g}")


def _scale(spread: Floats, floor: float | None) -> Floats:
    return np.ones_like(spread) if floor is None else floor + spread
