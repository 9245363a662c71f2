"""How long a running job still takes."""

from __future__ import annotations

import pytest

from adgcl.experiments.estimates import Pace


def test_before_a_job_reports_the_estimate_runs_down():
    pace = Pace(estimate=60.0, began=100.0)
    assert [pace.seconds_left(now) for now in (100.0, 130.0, 200.0)] == [60.0, 30.0, 0.0]
    pace.hear(0.01, 110.0)
    pace.hear(0.02, 120.0)  # too little to tell
    assert pace.seconds_left(130.0) == 30.0


@pytest.mark.parametrize("begun", [0.0, 0.4])
def test_a_job_slower_than_its_estimate_is_known_by_its_pace(begun: float):
    pace = Pace(estimate=10.0, began=0.0)
    for step in range(11):
        pace.hear(begun + step / 100, 5.0 + 10 * step)  # a hundredth in ten seconds
    assert pace.seconds_left(105.0) == pytest.approx((0.9 - begun) * 1000)
    assert pace.seconds_left(125.0) == pytest.approx((0.9 - begun) * 1000 - 20), "time passes between reports"


def test_nothing_is_left_of_a_job_whose_steps_are_done():
    pace = Pace(1000.0, 0.0)
    pace.hear(0.0, 0.0)
    pace.hear(1.0, 10.0)
    assert pace.seconds_left(11.0) == 0.0
