"""Calibration: probabilities that mean what they say, by a map fitted on validation predictions.

Of three maps the one with the lowest cross-validated Brier score is taken: none, a temperature (one number, which keeps
the order of molecules), or a monotone step function (isotonic regression) where there are labels enough. No map turns a
few labels into certainty: temperatures are fitted to labels that are smoothed as Platt (1999) does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from adgcl.core.trees import SCHEMA, TreeError, fitted
from adgcl.protocols.solvers.arrays import Floats

Kind = Literal["none", "temperature", "isotonic", "class_temperature"]
_FEWEST_OF_CLASS = 5  # labels of each class below which a task borrows the temperature of all tasks together
_FEWEST_FOR_STEPS = 50
_FOLDS = 5
# A step function makes ties, so it must be clearly better.
_CLEARLY = 0.99
_TINY = 1e-7


@dataclass(frozen=True)
class Calibration:
    """A map of probabilities, with how many labels it was fitted on."""

    kind: Kind = "none"
    temperature: float = 1.0
    steps: tuple[tuple[float, float], ...] = ()
    labels: int = 0

    __pydantic_config__: ClassVar = SCHEMA

    def __call__(self, probability: Floats) -> Floats:
        """Calibrated probabilities: of 1, any shape; or of classes `[n, classes]` for a class temperature."""
        if self.kind == "temperature":
            return tempered(probability, self.temperature)
        if self.kind == "class_temperature":
            return tempered_classes(probability, self.temperature)
        if self.kind == "isotonic":
            x, y = zip(*self.steps)
            mapped: Floats = np.interp(probability, x, y)
            return mapped
        return probability

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, tree: Any) -> Calibration:
        """What `to_json` gave, checked."""
        made = fitted(cls, tree)
        if made.temperature <= 0 or (made.kind == "isotonic" and not made.steps):
            raise TreeError(f"a calibration of kind {made.kind} without its numbers")
        return made


# Makes a map from probabilities and labels.
Maker = Callable[[Floats, Floats], Calibration]


def calibrate(probability: Floats, y: Floats) -> list[Calibration]:
    """A map for every task from probabilities of 1 and labels, both `[n, t]` with NaN for a missing label."""
    known = ~np.isnan(y)
    all_tasks = _with_temperature(probability[known], y[known]) if _both(y[known], 1) else Calibration()
    return [
        _best_of_task(probability[has, task], y[has, task]) if _both(y[has, task], _FEWEST_OF_CLASS) else all_tasks
        for task, has in enumerate(known.T)
    ]


def calibrate_classes(probability: Floats, y: Floats) -> Calibration:
    """A temperature, if it helps, from probabilities `[n, classes]` and class numbers `[n]`, NaN for a missing one."""
    known = ~np.isnan(y)
    rows, one_hot = probability[known], (y[known, None] == np.arange(probability.shape[1])).astype(np.float64)
    if len(rows) < _FOLDS:
        return Calibration(labels=len(rows))
    folds = np.arange(len(rows)) % _FOLDS
    parts = [(folds != k, folds == k) for k in range(_FOLDS)]
    return _best([_unchanged, _with_class_temperature], rows, one_hot, parts)


def tempered(probability: Floats, temperature: float) -> Floats:
    """`p^(1/T)` for the probability of 1, and of 0, made to sum to 1 again."""
    clipped = np.clip(probability, _TINY, 1 - _TINY)
    mapped: Floats = 1 / (1 + np.exp(-(np.log(clipped) - np.log1p(-clipped)) / temperature))
    return mapped


def tempered_classes(probability: Floats, temperature: float) -> Floats:
    """`p^(1/T)` for every class of a row, made to sum to 1 again."""
    powers = np.exp(np.log(np.clip(probability, _TINY, 1.0)) / temperature)
    normed: Floats = powers / powers.sum(axis=1, keepdims=True)
    return normed


def brier(probability: Floats, y: Floats) -> float:
    """The mean squared difference of probability and label, over the labels that are present."""
    return float(np.nanmean(np.square(probability - y)))


def reliability(probability: Floats, y: Floats, bins: int = 10) -> list[dict[str, float]]:
    """For each range of probabilities that occurs: their mean, the share of ones among the labels, and the count."""
    known = ~np.isnan(y)
    p, labels = probability[known], y[known]
    number = np.minimum((p * bins).astype(int), bins - 1)
    return [
        {
            "probability": round(float(p[number == k].mean()), 4),
            "share": round(float(labels[number == k].mean()), 4),
            "labels": int((number == k).sum()),
        }
        for k in range(bins)
        if (number == k).any()
    ]


def _best_of_task(p: Floats, y: Floats) -> Calibration:
    from sklearn.model_selection import StratifiedKFold

    makers: list[Maker] = [_unchanged, _with_temperature]
    if _both(y, _FEWEST_FOR_STEPS):
        makers.append(_with_steps)
    return _best(makers, p, y, list(StratifiedKFold(_FOLDS, shuffle=True, random_state=0).split(p, y)))


def _best(makers: Sequence[Maker], p: Floats, y: Floats, folds: Sequence[tuple[Any, Any]]) -> Calibration:
    """The map with the lowest Brier score on the labels that it was not fitted on, fitted on all of them."""
    losses = [
        sum(brier(make(p[fit], y[fit])(p[held]), y[held]) * y[held].size for fit, held in folds) for make in makers
    ]
    if _with_steps in makers:
        losses[makers.index(_with_steps)] /= _CLEARLY
    return makers[int(np.argmin(losses))](p, y)


def _unchanged(p: Floats, y: Floats) -> Calibration:
    return Calibration(labels=len(y))


def _with_temperature(p: Floats, y: Floats) -> Calibration:
    ones = y.sum()
    target = np.where(y == 1, (ones + 1) / (ones + 2), 1 / (len(y) - ones + 2))

    def loss(temperature: float) -> float:
        q = tempered(p, temperature)
        return float(-(target * np.log(q) + (1 - target) * np.log1p(-q)).mean())

    return Calibration("temperature", _best_temperature(loss), (), len(y))


def _with_class_temperature(p: Floats, y: Floats) -> Calibration:
    count, classes = y.shape
    target = (count * y + 1) / (count + classes)

    def loss(temperature: float) -> float:
        return float(-(target * np.log(np.clip(tempered_classes(p, temperature), _TINY, 1.0))).sum(axis=1).mean())

    return Calibration("class_temperature", _best_temperature(loss), (), count)


def _with_steps(p: Floats, y: Floats) -> Calibration:
    from sklearn.isotonic import IsotonicRegression

    # No finite number of labels makes certain.
    least = 1 / (len(y) + 2)
    fitted = IsotonicRegression(y_min=least, y_max=1 - least, out_of_bounds="clip").fit(p, y)
    steps = zip(fitted.X_thresholds_.tolist(), fitted.y_thresholds_.tolist())
    return Calibration("isotonic", 1.0, tuple(steps), len(y))


def _best_temperature(loss: Callable[[float], float]) -> float:
    from scipy.optimize import minimize_scalar

    found = minimize_scalar(lambda log_t: loss(float(np.exp(log_t))), bounds=(-3.0, 3.0), method="bounded")
    return round(float(np.exp(found.x)), 6)


def _both(y: Floats, fewest: int) -> bool:
    ones = int((y == 1).sum())
    return min(ones, len(y) - ones) >= fewest
