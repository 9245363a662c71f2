"""What held-out predictions say: fitted on some graphs, checked on others, by folds as by a slow loop."""

from __future__ import annotations

import numpy as np
import pytest

from adgcl.core.schema import Task
from adgcl.experiments.model.calibration import brier, calibrate
from adgcl.experiments.model.conformal import fit_intervals
from adgcl.experiments.model.held_out import HeldOut, across_folds, calibrate_on

SIZES = (40, 35, 45)


def values(seed: int = 0, count: int = sum(SIZES)) -> HeldOut:
    """Two tasks with noise of their own, some labels missing, and one member, so no spread."""
    random = np.random.default_rng(seed)
    mean = random.normal(size=(count, 2))
    y = mean + random.normal(scale=[0.3, 2.0], size=(count, 2))
    y[::7, 1] = np.nan
    return HeldOut(mean, np.full_like(mean, np.nan), random.uniform(0, 2, count), y, np.arange(count))


def answers(seed: int = 0, count: int = sum(SIZES)) -> HeldOut:
    """Yes or no, with probabilities that are too sure."""
    random = np.random.default_rng(seed)
    truth = random.uniform(0.1, 0.9, (count, 1))
    y = (random.uniform(size=(count, 1)) < truth).astype(float)
    too_sure = 1 / (1 + (1 / truth - 1) ** 3)
    return HeldOut(too_sure, np.full_like(y, np.nan), np.full(count, np.nan), y, np.arange(count))


def folds() -> list[np.ndarray]:
    ends = np.cumsum(SIZES)
    return [np.arange(end - size, end) for size, end in zip(SIZES, ends)]


def test_every_fold_checks_the_bands_of_the_others() -> None:
    part = values()
    found = calibrate_on(Task("regression", 2), part, across_folds(part, SIZES))
    for task in range(2):
        inside, widths = [], []
        for ids in folds():
            others = np.setdiff1d(np.arange(sum(SIZES)), ids)
            columns = (part.y[others, task], part.mean[others, task], part.spread[others, task])
            bands = fit_intervals(*columns, part.distance[others], part.group[others])
            for one in ids[~np.isnan(part.y[ids, task])]:
                half = bands.half_width(0.9, part.spread[[one], task], part.distance[[one]])[0]
                inside.append(abs(part.y[one, task] - part.mean[one, task]) <= half)
                widths.append(2 * half)
        checked = found["checked"][task]
        assert checked["labels"] == len(inside) == int((~np.isnan(part.y[:, task])).sum())
        assert checked["coverage"] == pytest.approx(np.mean(inside), abs=1e-4)
        assert checked["mean_width"] == pytest.approx(np.mean(widths), rel=1e-5)
        columns = (part.y[:, task], part.mean[:, task], part.spread[:, task])
        shipped = fit_intervals(*columns, part.distance, part.group)
        assert found["intervals"][task] == shipped.to_json(), "the model's own bands use every graph once"


def test_a_graph_never_checks_what_its_own_label_has_fitted() -> None:
    """Labels of one fold far off: none of them may be inside bands, which the other folds fit."""
    part = values()
    part.y[folds()[1]] += 1000
    task, checks = Task("regression", 2), across_folds(part, SIZES)
    alone = calibrate_on(task, part, checks[1:2])["checked"]
    assert [one["coverage"] for one in alone] == [0.0, 0.0]
    assert all(one["mean_width"] < 20 for one in alone)


def test_probabilities_are_checked_across_folds() -> None:
    part = answers()
    found = calibrate_on(Task("binary", 1), part, across_folds(part, SIZES))
    after = np.empty_like(part.mean)
    for ids in folds():
        others = np.setdiff1d(np.arange(sum(SIZES)), ids)
        (one,) = calibrate(part.mean[others], part.y[others])
        after[ids, 0] = one(part.mean[ids, 0])
    assert found["checked"]["brier_before"] == pytest.approx(brier(part.mean, part.y), abs=1e-6)
    assert found["checked"]["brier_after"] == pytest.approx(brier(after, part.y), abs=1e-6)
    assert found["checked"]["brier_after"] < found["checked"]["brier_before"], "they were too sure"
    assert found["probabilities"][0]["labels"] == sum(SIZES)


def test_classes_are_checked_on_the_graphs_of_the_check() -> None:
    random = np.random.default_rng(0)
    mean = random.dirichlet(np.ones(3), 90)
    y = np.array([[random.choice(3, p=row)] for row in mean], dtype=float)
    part = HeldOut(mean, np.full_like(mean, np.nan), np.full(90, np.nan), y, np.arange(90))
    found = calibrate_on(
        Task("multiclass", 1, 3), part.at(np.arange(60)), [(part.at(np.arange(60)), part.at(np.arange(60, 90)))]
    )
    one_hot = (y[60:] == np.arange(3)).astype(float)
    summed = np.square(mean[60:] - one_hot).sum(axis=1).mean()
    assert found["checked"]["brier_before"] == pytest.approx(summed, abs=1e-6), "as Brier (1950) defines it"
    assert sum(bin["labels"] for bin in found["checked"]["reliability"]) == 30 * 3


def test_too_few_labels_promise_nothing() -> None:
    part = values().at(np.arange(8))
    found = calibrate_on(Task("regression", 2), part, across_folds(part, (3, 5)))
    assert [one["coverage"] for one in found["checked"]] == [None, None]
