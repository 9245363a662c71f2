"""Conformal bands: they hold what they promise, adapt where that helps, and refuse to promise too much."""

from __future__ import annotations

import numpy as np
import pytest

from adgcl.experiments.model.conformal import Intervals, fit_intervals, interval_loss


def world(count: int, seed: int, informative: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values whose noise grows with the spread of the members, or has nothing to do with it."""
    random = np.random.default_rng(seed)
    noise, spread = random.uniform(0.2, 3.0, count), random.uniform(0.2, 3.0, count)
    mean = random.normal(0, 5, count)
    return mean + random.normal(0, noise), mean, noise if informative else spread


@pytest.mark.parametrize("informative", [True, False])
@pytest.mark.parametrize("coverage", [0.5, 0.9, 0.95])
def test_bands_hold_the_promised_share_of_new_values(informative: bool, coverage: float) -> None:
    bands = fit_intervals(*world(5000, 0, informative))
    y, mean, spread = world(20_000, 1, informative)
    inside = np.abs(y - mean) <= bands.half_width(coverage, spread)
    assert inside.mean() == pytest.approx(coverage, abs=0.03)


def test_the_promise_holds_on_average_over_small_calibration_sets() -> None:
    """19 held-out values: the 18th smallest score gives 90 % on average, by exchangeability."""
    covered = []
    for seed in range(300):
        bands = fit_intervals(*world(19, seed))
        y, mean, spread = world(200, 10_000 + seed)
        covered.append((np.abs(y - mean) <= bands.half_width(0.9, spread)).mean())
    assert np.mean(covered) == pytest.approx(0.9, abs=0.015)


def test_bands_adapt_where_the_spread_says_something() -> None:
    assert fit_intervals(*world(500, 0, informative=True)).floor is not None
    assert fit_intervals(*world(500, 0, informative=False)).floor is None
    y, mean, spread = world(5000, 1)
    residual = np.abs(y - mean)
    adaptive, plain = fit_intervals(*world(500, 0)), fit_intervals(*world(500, 0)[:2], np.full(500, np.nan))
    widths = [bands.half_width(0.9, spread) for bands in (adaptive, plain)]
    assert interval_loss(residual, widths[0], 0.9) < interval_loss(residual, widths[1], 0.9)


def test_one_member_and_missing_labels() -> None:
    y, mean, _ = world(100, 0)
    y[:40] = np.nan
    bands = fit_intervals(y, mean, np.full(100, np.nan))
    assert len(bands.scores) == 60 and bands.floor is None
    assert (
        bands.half_width(0.9, np.full(3, np.nan)).shape == (3,) and np.isfinite(bands.half_width(0.9, np.ones(1))).all()
    )
    assert list(bands.scores) == sorted(bands.scores)
    assert Intervals.from_json(bands.to_json()) == bands


def test_a_label_without_held_out_values_has_no_band() -> None:
    assert np.isnan(Intervals(()).half_width(0.9, np.ones(3))).all()


def test_too_much_cannot_be_promised() -> None:
    bands = Intervals((1.0,) * 19)
    assert bands.half_width(0.95, np.zeros(1)).tolist() == [1.0]
    assert np.isnan(bands.half_width(0.96, np.zeros(1))).all()
    assert bands.most == 0.95 and bands.promises(0.95) and not bands.promises(0.96)
