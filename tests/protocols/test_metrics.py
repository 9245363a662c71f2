"""Scores equal the Open Graph Benchmark's evaluators, written here the slow and obvious way."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata
from sklearn.metrics import roc_auc_score

from adgcl.core.errors import ConfigError, DataError
from adgcl.protocols.metrics import average_ranks, score, task_scores


def ogb_score(metric, y_true, y_pred):
    """OGB's evaluator: per task over labelled graphs; rocauc only for tasks with both classes; mean over tasks."""
    values = []
    for t in range(y_true.shape[1]):
        labelled = y_true[:, t] == y_true[:, t]
        true, pred = y_true[labelled, t], y_pred[labelled, t]
        if metric == "rocauc":
            if np.sum(true == 1) > 0 and np.sum(true == 0) > 0:
                values.append(roc_auc_score(true, pred))
        elif metric == "rmse":
            values.append(np.sqrt(((true - pred) ** 2).mean()))
        elif metric == "mae":
            values.append(np.abs(true - pred).mean())
        else:
            values.append((true == pred).mean())
    return sum(values) / len(values)


def labels_and_scores(seed, n=60, tasks=5, missing=0.3):
    random = np.random.default_rng(seed)
    y = (random.random((n, tasks)) < np.linspace(0.1, 0.9, tasks)).astype(float)
    y[random.random(y.shape) < missing] = np.nan
    return y, np.round(random.normal(size=y.shape), 1)  # rounding makes ties


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("metric", ["rocauc", "rmse", "mae"])
def test_equals_ogb(metric, seed):
    y, pred = labels_and_scores(seed)
    assert score(metric, y, pred) == pytest.approx(ogb_score(metric, y, pred), rel=1e-12)


def test_accuracy_equals_ogb():
    random = np.random.default_rng(0)
    y = random.integers(0, 4, (50, 2)).astype(float)
    y[:5, 1] = np.nan
    pred = random.integers(0, 4, (50, 2)).astype(float)
    assert score("accuracy", y, pred) == pytest.approx(ogb_score("accuracy", y, pred))


def test_tasks_with_one_class_are_left_out():
    y = np.array([[0, 1, np.nan], [1, 1, np.nan], [1, np.nan, np.nan]], dtype=float)
    pred = np.array([[0.1, 0.5, 0], [0.9, 0.2, 0], [0.0, 0.3, 0]])
    assert score("rocauc", y, pred) == 0.5
    assert np.isnan(task_scores("rocauc", y, pred)).tolist() == [False, True, True]


def test_known_values():
    y = np.array([[0.0], [0], [1], [1]])
    assert score("rocauc", y, np.array([[0.1], [0.2], [0.3], [0.4]])) == 1.0
    assert score("rocauc", y, np.array([[0.4], [0.3], [0.2], [0.1]])) == 0.0
    assert score("rocauc", y, np.zeros((4, 1))) == 0.5
    assert score("rmse", np.array([[0.0], [0.0]]), np.array([[3.0], [4.0]])) == pytest.approx(np.sqrt(12.5))
    assert score("mae", np.array([[0.0], [0.0]]), np.array([[3.0], [-4.0]])) == 3.5


def test_many_predictions_at_once():
    y, _ = labels_and_scores(1)
    pred = np.random.default_rng(2).normal(size=(3, 2, *y.shape))
    together = task_scores("rocauc", y, pred)
    assert together.shape == (3, 2, 5)
    assert np.allclose(together[2, 1], task_scores("rocauc", y, pred[2, 1]), atol=0)


@pytest.mark.parametrize("metric", ["rocauc", "rmse", "mae", "accuracy"])
def test_undefined_is_an_error_with_a_hint(metric):
    with pytest.raises(DataError) as caught:
        score(metric, np.full((4, 2), np.nan), np.zeros((4, 2)))
    assert caught.value.hint
    with pytest.raises(DataError, match="both classes"):
        score("rocauc", np.ones((4, 2)), np.zeros((4, 2)))


def test_bad_input_is_refused():
    y = np.array([[0.0], [1.0]])
    with pytest.raises(DataError, match="NaN or infinite"):
        score("rocauc", y, np.array([[np.nan], [1.0]]))
    with pytest.raises(DataError, match="labels 0 and 1"):
        score("rocauc", y * 2, y)
    with pytest.raises(DataError, match="do not match"):
        score("rmse", y, np.zeros((3, 1)))
    with pytest.raises(ConfigError):
        score("none", y, y)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10_000))
def test_rocauc_depends_on_the_order_only(seed):
    y, pred = labels_and_scores(seed, n=25, tasks=2, missing=0.1)
    values = task_scores("rocauc", y, pred)
    assert np.allclose(task_scores("rocauc", y, np.exp(pred)), values, equal_nan=True)
    assert np.allclose(task_scores("rocauc", y, -pred), 1 - values, equal_nan=True)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 20), st.integers(1, 4), st.sampled_from([(), (3,), (2, 2)]))
def test_ranks_are_scipy_s(seed, rows, columns, before):
    """With many ties, some of them infinite, as unlabelled graphs are."""
    values = np.random.default_rng(seed).integers(-3, 4, (*before, rows, columns)).astype(float)
    values[values == 3] = np.inf
    assert np.array_equal(average_ranks(values), rankdata(values, axis=-2))
