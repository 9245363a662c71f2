"""A constant guess scores what guessing scores."""

from __future__ import annotations

import numpy as np
import pytest

from adgcl.core.schema import Task
from adgcl.protocols.probes import probe_folds

ZEROS = np.zeros((60, 1), dtype=np.float32)


def test_accuracy_is_that_of_the_commonest_class() -> None:
    y = np.array([0] * 40 + [1] * 20, dtype=np.float64)[:, None]
    task = Task("multiclass", num_classes=2)
    score = probe_folds(ZEROS, y, task, probe="linear", mode="strict", seed=0, num_folds=10)
    assert score.test == pytest.approx(40 / 60)


def test_roc_auc_is_one_half() -> None:
    y = np.array([0, 1] * 30, dtype=np.float64)[:, None]
    score = probe_folds(ZEROS, y, Task("binary"), probe="linear", mode="strict", seed=0, num_folds=10)
    assert score.test == pytest.approx(0.5)


def test_an_error_is_that_of_the_mean() -> None:
    y = np.random.default_rng(0).normal(size=(60, 1))
    score = probe_folds(ZEROS, y, Task("regression"), probe="linear", mode="strict", seed=0, num_folds=10)
    assert score.test == pytest.approx(y.std(), rel=0.15)
