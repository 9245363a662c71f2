"""Conformal intervals: bands around predictions that hold a promised share of new values.

From held-out values come scores `|y - mean| / scale`. A band `mean +- q scale`, with `q` the right quantile of the
scores, holds at least the promised share of values that are drawn as the held-out ones were (Vovk et al. 2005). The
scale is 1, or grows with the members' spread or with the distance to the training graphs (locally adaptive), whichever
makes the best bands on held-out data.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import ceil
from typing import Any, ClassVar, Literal

import numpy as np

from adgcl.core.trees import SCHEMA, fitted
from adgcl.protocols.solvers.arrays import Floats

# What may say that a prediction is less certain than others.
Signal = Literal["spread", "distance"]
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


def fit_intervals(y: Floats, mean: Floats, spread: Floats, distance: Floats) -> Intervals:
    """From one task's held-out labels (NaN for missing), predictions, spreads (NaN for a single member), and distances.

    Distances are those to the graphs that were trained on; NaN where held-out graphs are among these for other members.
    """
    known = ~np.isnan(y)
    residual = np.abs(y - mean)[known]
    signals: dict[Signal, Floats] = {"spread": spread[known], "distance": distance[known]}
    choices: list[tuple[Floats, float | None, Signal]] = [(signals["spread"], None, "spread")]
    if len(residual) >= _FEWEST_FOR_CHOICE:
        choices += [(signal, floor, by) for by, signal in signals.items() if (floor := _floor(signal)) is not None]
    losses = [_held_out_loss(residual, *choice) for choice in choices] if len(choices) > 1 else [0.0]
    return _fitted(residual, *choices[int(np.argmin(losses))])


def interval_loss(residual: Floats, half_width: Floats, coverage: float) -> float:
    """The interval score of Gneiting and Raftery (2007): the width, and what a value outside costs; low is good."""
    outside = np.maximum(residual - half_width, 0.0)
    return float(np.mean(2 * half_width + 2 / (1 - coverage) * outside))


def _held_out_loss(residual: Floats, signal: Floats, floor: float | None, by: Signal) -> float:
    """The interval score of bands that are fitted on some of the values and scored on the others."""
    fold = np.random.default_rng(0).permutation(len(residual)) % _FOLDS
    losses = []
    for k in range(_FOLDS):
        fitted = _fitted(residual[fold != k], signal[fold != k], floor, by)
        width = fitted.half_width(_JUDGED_AT, signal[fold == k], signal[fold == k])
        losses.append(interval_loss(residual[fold == k], width, _JUDGED_AT))
    return float(np.mean(losses))


def _fitted(residual: Floats, signal: Floats, floor: float | None, by: Signal) -> Intervals:
    scores = np.sort(residual / _scale(signal, floor))
    return Intervals(tuple(float(f"{score:.7g}") for score in scores), floor, by)


def _floor(signal: Floats) -> float | None:
    if not len(signal) or np.isnan(signal).any() or not np.median(signal) > 0:
        return None
    return float(f"{np.median(signal):.7g}")


def _scale(signal: Floats, floor: float | None) -> Floats:
    return np.ones_like(signal) if floor is None else floor + signal
