"""The columns of predictions: a label may be called like what stands beside another."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from adgcl.experiments.model.conformal import Intervals
from adgcl.experiments.prediction import _values


def test_a_label_called_like_the_spread_of_another_keeps_both():
    model = SimpleNamespace(labels=["y", "y_std"], intervals=[Intervals((1.0,) * 20)] * 2)
    answers = SimpleNamespace(mean=np.array([[10.0, 20.0]]), spread=np.array([[0.1, 0.2]]))
    made = _values(model, answers, np.array([0.5]), 0.9)
    assert (made["y"][0], made["y_std"][0], made["y_std_value"][0], made["y_std_std"][0]) == (10.0, 0.1, 20.0, 0.2)
    assert len(made) == 8
