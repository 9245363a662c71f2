"""The domain: training molecules are inside, strange ones are not, by an obvious version of the same."""

from __future__ import annotations

import numpy as np

from adgcl.experiments.model import domain as module
from adgcl.experiments.model.domain import QUANTILE, fit_domain


def rows(count: int, seed: int, shift: float = 0.0) -> np.ndarray:
    return (np.random.default_rng(seed).normal(shift, [1.0, 10.0, 0.1], size=(count, 3))).astype(np.float32)


def test_distances_are_those_of_an_obvious_loop() -> None:
    train, new = rows(200, 0), rows(20, 1)
    fitted = fit_domain(train)
    scaled, queries = ((part - train.mean(0)) / train.std(0) for part in (train, new))
    nearest = [min(np.linalg.norm(a - b) for b in scaled) for a in queries]
    own = [sorted(np.linalg.norm(a - b) for b in scaled)[1] for a in scaled]
    np.testing.assert_allclose(fitted.distances(new), nearest / np.quantile(own, QUANTILE), rtol=0.02, atol=2e-3)


def test_training_molecules_are_at_distance_0_and_strange_ones_outside() -> None:
    fitted = fit_domain(rows(500, 0))
    assert fitted.distances(rows(500, 0)).max() == 0
    assert (fitted.distances(rows(50, 1, shift=60.0)) > 1).all()
    assert (fitted.distances(rows(500, 2)) <= 1).mean() > 0.85


def test_very_many_molecules_are_thinned_and_odd_columns_do_no_harm(monkeypatch) -> None:
    monkeypatch.setattr(module, "_MOST_ROWS", 50)
    assert len(fit_domain(rows(200, 0)).rows) == 50
    flat = np.concatenate([rows(10, 0), np.full((10, 1), 7.0, dtype=np.float32)], axis=1)
    assert np.isfinite(fit_domain(flat).distances(flat)).all()
    assert np.isfinite(fit_domain(flat[:1]).distances(flat)).all()
