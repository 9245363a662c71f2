"""Evaluating a model: its members together on held-out graphs, and what their predictions are worth.

Everything that is fitted here (temperatures, bands) is fitted on validation graphs. Test graphs check it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from adgcl.core.schema import Task
from adgcl.data.dataset import Dataset
from adgcl.experiments.model.calibration import Calibration, brier, calibrate, calibrate_classes, reliability
from adgcl.experiments.model.conformal import Intervals, fit_intervals
from adgcl.experiments.model.domain import Domain, fit_domain
from adgcl.experiments.model.ensemble import ask
from adgcl.experiments.model.members import Plan, held_out
from adgcl.graphs.store.store import GraphStore
from adgcl.methods.supervised import Supervised
from adgcl.protocols.fold_training import scorable
from adgcl.protocols.parts import score_part
from adgcl.protocols.solvers.arrays import Floats
from adgcl.training.fitting import fit_features

COVERAGE = 0.9


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Predictions for graphs that no member behind them has learned from, their spread, and the labels."""

    mean: Floats
    spread: Floats
    y: Floats


@dataclass(frozen=True, eq=False)
class Judged:
    """Scores of the members together, how predictions are calibrated and checked, and the domain."""

    scores: dict[str, float | None]
    calibration: dict[str, Any]
    domain: Domain


def judge_model(dataset: Dataset, plan: Plan, members: Sequence[Supervised]) -> Judged:
    """What the members are worth together."""
    store, task = fit_features(dataset.store, members[0].spec), dataset.task
    valid, test = (_held_out(store, plan, members, which) for which in ("valid", "test"))
    learned = np.unique(np.concatenate([member.part.train for member in plan.members]))
    domain = fit_domain(ask(members[:1], store.select(learned)).embedding)
    scores = {name: _score(task, part) for name, part in (("valid", valid), ("test", test))}
    calibration = _intervals(valid, test) if task.kind == "regression" else _probabilities(task, valid, test)
    return Judged(scores, calibration, domain)


def calibrated(probability: Floats, calibrations: Sequence[Calibration], task: Task) -> Floats:
    """Mean probabilities `[n, columns]` after their maps: one for all classes, or one for each task."""
    if task.kind == "multiclass":
        return calibrations[0](probability)
    return np.stack([one(column) for one, column in zip(calibrations, probability.T, strict=True)], axis=1)


def _held_out(store: GraphStore, plan: Plan, members: Sequence[Supervised], which: str) -> HeldOut:
    """On shared parts all members speak; else each member about the graphs that were held out from it."""
    assert store.y is not None
    parts = held_out(plan, which)
    if plan.shared:
        answers = ask(members, store.select(parts[0]))
        return HeldOut(answers.mean, answers.spread, store.y[parts[0]])
    each = [ask([member], store.select(ids)) for member, ids in zip(members, parts, strict=True)]
    mean, spread = (np.concatenate([getattr(one, name) for one in each]) for name in ("mean", "spread"))
    return HeldOut(mean, spread, store.y[np.concatenate(parts)])


def _score(task: Task, part: HeldOut) -> float | None:
    value = score_part(task, part.y, scorable(part.mean, task, border=0.5))
    return None if np.isnan(value) else round(value, 6)


def _intervals(valid: HeldOut, test: HeldOut) -> dict[str, Any]:
    fitted = [fit_intervals(*columns) for columns in zip(valid.y.T, valid.mean.T, valid.spread.T)]
    columns = zip(fitted, test.y.T, test.mean.T, test.spread.T)
    return {"intervals": [one.to_json() for one in fitted], "checked": [_covered(*column) for column in columns]}


def _covered(fitted: Intervals, y: Floats, mean: Floats, spread: Floats) -> dict[str, Any]:
    """The share of test labels within bands of 90 %, and the bands' mean width; nothing where labels are too few."""
    known = ~np.isnan(y)
    if not known.any() or not fitted.promises(COVERAGE):
        return {"coverage": None, "labels": int(known.sum())}
    half = fitted.half_width(COVERAGE, spread)[known]
    inside = np.abs(y - mean)[known] <= half
    return {
        "asked": COVERAGE,
        "coverage": round(float(inside.mean()), 4),
        "mean_width": round(float(2 * half.mean()), 6),
        "labels": int(known.sum()),
    }


def _probabilities(task: Task, valid: HeldOut, test: HeldOut) -> dict[str, Any]:
    if task.kind == "multiclass":
        fitted = [calibrate_classes(valid.mean, valid.y[:, 0])]
        wanted = np.where(np.isnan(test.y), np.nan, test.y == np.arange(task.num_classes))
    else:
        fitted, wanted = calibrate(valid.mean, valid.y), test.y
    after = calibrated(test.mean, fitted, task)
    checked: dict[str, Any] = {
        "brier_before": round(brier(test.mean, wanted), 6),
        "brier_after": round(brier(after, wanted), 6),
        "reliability": reliability(after.ravel(), wanted.ravel()),
    }
    return {"probabilities": [one.to_json() for one in fitted], "checked": checked}
