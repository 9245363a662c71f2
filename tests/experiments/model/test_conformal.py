"""Conformal bands: they hold what they promise, adapt where that helps, and refuse to promise too much."""

from __future__ import annotations

import numpy as np
import pytest

from adgcl.experiments.model.conformal import Intervals, fit_intervals, interval_loss

World = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def bands_of(values: World) -> Intervals:
    """Bands from values that were held out one by one."""
    return fit_intervals(*values, np.arange(len(values[0])))


def world(count: int, seed: int, informative: str = "spread") -> World:
    """Values, predictions, spreads and distances; the noise grows with one of the last two, or with neither."""
    random = np.random.default_rng(seed)
    noise, *other = (random.uniform(0.2, 3.0, count) for _ in range(3))
    mean = random.normal(0, 5, count)
    spread, distance = (noise if informative == name else other[i] for i, name in enumerate(("spread", "distance")))
    return mean + random.normal(0, noise), mean, spread, distance


@pytest.mark.parametrize("informative", ["spread", "distance", "neither"])
@pytest.mark.parametrize("coverage", [0.5, 0.9, 0.95])
def test_bands_hold_the_promised_share_of_new_values(informative: str, coverage: float) -> None:
    bands = bands_of(world(5000, 0, informative))
    y, mean, *signals = world(20_000, 1, informative)
    inside = np.abs(y - mean) <= bands.half_width(coverage, *signals)
    assert inside.mean() == pytest.approx(coverage, abs=0.03)


def test_the_promise_holds_on_average_over_small_calibration_sets() -> None:
    """19 held-out values: the 18th smallest score gives 90 % on average, by exchangeability."""
    covered = []
    for seed in range(300):
        bands = bands_of(world(19, seed))
        y, mean, *signals = world(200, 10_000 + seed)
        covered.append((np.abs(y - mean) <= bands.half_width(0.9, *signals)).mean())
    assert np.mean(covered) == pytest.approx(0.9, abs=0.015)


@pytest.mark.parametrize("signal", ["spread", "distance"])
def test_bands_adapt_to_what_says_something(signal: str) -> None:
    adaptive = bands_of(world(500, 0, signal))
    assert adaptive.floor is not None and adaptive.by == signal
    assert bands_of(world(500, 0, "neither")).floor is None
    y, mean, *signals = world(5000, 1, signal)
    nothing = np.full(500, np.nan)
    plain = bands_of((*world(500, 0, signal)[:2], nothing, nothing))
    widths = [bands.half_width(0.9, *signals) for bands in (adaptive, plain)]
    residual = np.abs(y - mean)
    assert interval_loss(residual, widths[0], 0.9) < interval_loss(residual, widths[1], 0.9)


def test_bands_of_models_that_were_made_before_distances_counted_are_read() -> None:
    bands = Intervals.from_json({"scores": [1.0, 2.0], "floor": 0.5})
    assert bands.half_width(0.5, np.array([1.5]), np.array([9.0])).tolist() == [4.0], "2 (0.5 + 1.5)"


def test_one_member_and_missing_labels() -> None:
    y, mean, *_ = world(100, 0)
    y[:40] = np.nan
    nothing = np.full(100, np.nan)
    bands = bands_of((y, mean, nothing, nothing))
    assert len(bands.scores) == 60 and bands.floor is None
    assert np.isfinite(bands.half_width(0.9, nothing[:3], nothing[:3])).tolist() == [True] * 3
    assert list(bands.scores) == sorted(bands.scores)
    assert Intervals.from_json(bands.to_json()) == bands


def test_a_label_without_held_out_values_has_no_band() -> None:
    assert np.isnan(Intervals(()).half_width(0.9, np.ones(3), np.ones(3))).all()


def test_too_much_cannot_be_promised() -> None:
    bands = Intervals((1.0,) * 19)
    assert bands.half_width(0.95, np.zeros(1), np.zeros(1)).tolist() == [1.0]
    assert np.isnan(bands.half_width(0.96, np.zeros(1), np.zeros(1))).all()
    assert bands.most == 0.95 and bands.promises(0.95) and not bands.promises(0.96)
