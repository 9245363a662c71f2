"""Calibration: miscalibrated probabilities improve, good ones stay, and few labels do no harm."""

from __future__ import annotations

import numpy as np
import pytest

from adgcl.experiments.model.calibration import (
    Calibration,
    brier,
    calibrate,
    calibrate_classes,
    reliability,
    tempered,
    tempered_classes,
)

RNG = np.random.default_rng


def drawn(count: int, sharpness: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities that are too sure by a factor, and labels drawn from the right ones."""
    random = RNG(seed)
    logits = random.normal(0, 1.5, count)
    y = (random.random(count) < 1 / (1 + np.exp(-logits))).astype(float)
    return 1 / (1 + np.exp(-sharpness * logits)), y


def test_an_overconfident_model_is_tempered_and_its_brier_score_falls() -> None:
    (map_,) = calibrate(*(part[:, None] for part in drawn(400, 3.0)))
    assert map_.kind == "temperature" and map_.temperature == pytest.approx(3.0, rel=0.25)
    p, y = drawn(20_000, 3.0, seed=1)
    right = tempered(p, 3.0)
    assert brier(map_(p), y) < brier(p, y) - 0.01
    assert brier(map_(p), y) == pytest.approx(brier(right, y), abs=1e-3)
    bins = reliability(map_(p), y)
    assert max(abs(one["probability"] - one["share"]) for one in bins) < 0.06
    assert sum(one["labels"] for one in bins) == 20_000


def test_a_good_model_is_left_alone() -> None:
    (map_,) = calibrate(*(part[:, None] for part in drawn(2000, 1.0)))
    p, y = drawn(20_000, 1.0, seed=1)
    assert brier(map_(p), y) <= brier(p, y) + 5e-4


def test_a_distortion_that_no_temperature_undoes_takes_steps() -> None:
    p, y = drawn(4000, 1.0)
    (map_,) = calibrate((p**3)[:, None], y[:, None])
    assert map_.kind == "isotonic"
    p, y = drawn(20_000, 1.0, seed=1)
    assert brier(map_(p**3), y) < brier(p**3, y) - 0.02
    mapped = map_(np.linspace(0, 1, 1000))
    assert (np.diff(mapped) >= 0).all() and mapped.min() > 0 and mapped.max() < 1
    assert Calibration.from_json(map_.to_json()) == map_


def test_tasks_with_few_labels_borrow_and_missing_labels_do_not_count() -> None:
    p, y = (np.stack([part, part], axis=1) for part in drawn(400, 3.0))
    y[4:, 1] = np.nan
    rich, poor = calibrate(p, y)
    assert rich.labels == 400 and poor.kind == "temperature" and poor.labels == 404
    (nothing,) = calibrate(np.full((3, 1), 0.7), np.ones((3, 1)))
    assert nothing.kind == "none" and nothing(np.array([0.7])).tolist() == [0.7]


@pytest.mark.parametrize(("ones", "zeros"), [(10, 10), (20, 4), (5, 5)])
def test_a_few_labels_make_nothing_certain(ones: int, zeros: int) -> None:
    """Labels that any threshold separates: no more is claimed than by Laplace's rule of succession."""
    p = np.array([0.55] * ones + [0.45] * zeros)[:, None]
    y = np.array([1.0] * ones + [0.0] * zeros)[:, None]
    (map_,) = calibrate(p, y)
    yes, no = map_(np.array([0.55, 0.45]))
    assert yes > 0.5 and no < 0.5
    assert max(yes, 1 - no) <= (max(ones, zeros) + 1) / (max(ones, zeros) + 2) + 1e-4


def test_a_few_labels_of_classes_make_nothing_certain() -> None:
    right = np.repeat([[0.5, 0.3, 0.2], [0.2, 0.5, 0.3], [0.3, 0.2, 0.5]], 2, axis=0)
    assert calibrate_classes(right, np.repeat([0.0, 1.0, 2.0], 2))(right).max() <= 7 / 9
    assert calibrate_classes(right[:4], np.zeros(4)).kind == "none"


def test_classes_of_a_good_model_are_left_alone() -> None:
    random = RNG(0)
    right = random.dirichlet(np.ones(3), 3000)
    y = np.array([random.choice(3, p=row) for row in right], dtype=float)
    map_ = calibrate_classes(right, y)
    np.testing.assert_allclose(map_(right), right, atol=0.02)


def test_classes_share_a_temperature() -> None:
    random = RNG(0)
    logits = random.normal(0, 2, (3000, 4))
    right = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    y = np.array([random.choice(4, p=row) for row in right], dtype=float)
    sharp = tempered_classes(right, 0.4)
    y[:5] = np.nan
    map_ = calibrate_classes(sharp, y)
    assert map_.temperature == pytest.approx(1 / 0.4, rel=0.1) and map_.labels == 2995
    np.testing.assert_allclose(map_(sharp).sum(1), 1.0)
    np.testing.assert_allclose(map_(sharp), right, atol=0.05)
    assert calibrate_classes(sharp, np.full(3000, np.nan)).kind == "none"
