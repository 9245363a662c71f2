"""Selection: which epoch's score is reported, given every evaluated epoch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import isnan, nan
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import ConfigDict

from adgcl.core.trees import fitted

Mode = Literal["as_published", "strict"]


@dataclass(frozen=True)
class Evaluation:
    """The probe's scores after one epoch: means, and one number per fold (a single one for a given split)."""

    epoch: int
    probe: str
    valid: float
    test: float
    valid_folds: tuple[float, ...]
    test_folds: tuple[float, ...]
    chosen: tuple[float, ...]

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid")

    def to_json(self) -> dict[str, Any]:
        """Plain JSON, which has no NaN: a score that is undefined becomes null."""
        return {name: _plain(value) for name, value in asdict(self).items()}

    @classmethod
    def from_json(cls, tree: Any) -> Evaluation:
        """What `to_json` gave, checked."""
        return fitted(cls, {name: _parsed(value) for name, value in fitted(dict[str, Any], tree).items()})


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and isnan(value) else value


def _parsed(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_parsed(item) for item in value)
    return nan if value is None else value


@dataclass(frozen=True)
class Selected:
    """The reported test score, the epochs that validation chose, and the test score of each fold."""

    test: float
    valid: float
    epochs: tuple[int, ...]
    test_folds: tuple[float, ...]


def select(evaluations: Sequence[Evaluation], mode: Mode, higher_is_better: bool) -> Selected:
    """Choose by validation only.

    `as_published` takes one epoch for all folds, by the mean over folds: a graph that is tested in one fold helps to
    choose the epoch in another. `strict` chooses for every fold by that fold's own validation score. Folds whose score
    is undefined (NaN) are left out of the means; where validation says nothing at all, the last epoch counts.
    """
    if mode == "as_published" or len(evaluations[0].test_folds) == 1:
        best = _argbest([e.valid for e in evaluations], higher_is_better)
        chosen = evaluations[best]
        return Selected(chosen.test, chosen.valid, (chosen.epoch,), chosen.test_folds)
    valid = np.array([e.valid_folds for e in evaluations])
    picks = [_argbest(list(column), higher_is_better) for column in valid.T]
    folds = tuple(evaluations[pick].test_folds[fold] for fold, pick in enumerate(picks))
    chosen_valid = [value for fold, pick in enumerate(picks) if not isnan(value := float(valid[pick, fold]))]
    best_valid = float(np.mean(chosen_valid)) if chosen_valid else nan
    return Selected(float(np.nanmean(folds)), best_valid, tuple(evaluations[p].epoch for p in picks), folds)


def _argbest(scores: Sequence[float], higher_is_better: bool) -> int:
    """The first best score, so that a tie goes to the earlier epoch; the last where no score is defined."""
    if np.isnan(scores).all():
        return len(scores) - 1
    return int(np.nanargmax(scores) if higher_is_better else np.nanargmin(scores))
