"""Losses against labels: closed forms, torch and scikit-learn, and labels that are missing."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.metrics import log_loss, mean_absolute_error, mean_squared_error
from torch.nn import functional as F

from adgcl.objectives.supervised import cross_entropy, logistic_loss, regression_loss, supervised_loss

NAN = float("nan")


def outputs(rows, columns, seed=0):
    return torch.randn(rows, columns, generator=torch.Generator().manual_seed(seed), requires_grad=True)


def test_equal_logits_cost_the_log_of_the_number_of_classes():
    y = torch.tensor([[0.0], [2.0]], dtype=torch.float64)
    assert cross_entropy(torch.zeros(2, 3), y).item() == pytest.approx(np.log(3))
    assert logistic_loss(torch.zeros(2, 1), y / 2).item() == pytest.approx(np.log(2))


def test_cross_entropy_is_that_of_scikit_learn():
    logits, y = outputs(7, 4), np.array([0, 1, 2, 3, 3, 1, 0])
    expected = log_loss(y, logits.detach().double().softmax(1).numpy(), labels=range(4))
    ours = cross_entropy(logits, torch.from_numpy(y[:, None].astype(np.float64)))
    assert ours.item() == pytest.approx(expected, rel=1e-5)


def test_several_binary_tasks_equal_each_task_on_its_present_rows():
    logits = outputs(6, 3)
    y = torch.tensor(
        [[1, NAN, 0], [0, 1, NAN], [NAN, NAN, 1], [1, 0, 0], [0, NAN, NAN], [1, NAN, 1]], dtype=torch.float64
    )
    total, count = 0.0, 0
    for task in range(3):
        rows = ~y[:, task].isnan()
        mean = F.binary_cross_entropy_with_logits(logits[rows, task], y[rows, task].float())
        total, count = total + mean * rows.sum(), count + int(rows.sum())
    ours = logistic_loss(logits, y)
    torch.testing.assert_close(ours, total / count)
    (slope,) = torch.autograd.grad(ours, logits)
    assert (slope[y.isnan()] == 0).all()
    assert (slope[~y.isnan()] != 0).all()


@pytest.mark.parametrize(("error", "expected"), [("squared", mean_squared_error), ("absolute", mean_absolute_error)])
def test_regression_is_the_error_over_present_labels(error, expected):
    values = outputs(5, 2)
    y = torch.tensor([[1.0, NAN], [2.0, -1.0], [NAN, NAN], [0.5, 3.0], [NAN, 1.0]], dtype=torch.float64)
    present = ~y.isnan()
    ours = regression_loss(values, y, error)
    assert ours.item() == pytest.approx(expected(y[present], values.detach().double()[present]), rel=1e-5)


@pytest.mark.parametrize(("kind", "columns"), [("multiclass", 3), ("binary", 1), ("regression", 1)])
def test_missing_rows_change_nothing_and_all_missing_is_zero(kind, columns):
    logits = outputs(5, columns)
    y = torch.tensor([[0.0], [1.0], [1.0], [NAN], [NAN]], dtype=torch.float64)
    torch.testing.assert_close(supervised_loss(logits, y, kind), supervised_loss(logits[:3], y[:3], kind))
    nothing = supervised_loss(logits, torch.full_like(y, NAN), kind)
    (slope,) = torch.autograd.grad(nothing, logits)
    assert nothing.item() == 0
    assert (slope == 0).all()


@pytest.mark.parametrize(("kind", "columns"), [("multiclass", 2), ("binary", 1), ("regression", 1)])
def test_gradients_are_those_of_finite_differences(kind, columns):
    y = torch.tensor([[0.0], [1.0], [NAN], [1.0]], dtype=torch.float64)
    logits = outputs(4, columns)
    (slope,) = torch.autograd.grad(supervised_loss(logits, y, kind), logits)
    step = 1e-2
    for place in [(0, 0), (1, columns - 1), (2, 0)]:
        move = torch.zeros_like(logits)
        move[place] = step
        change = supervised_loss(logits + move, y, kind) - supervised_loss(logits - move, y, kind)
        assert slope[place].item() == pytest.approx(change.item() / (2 * step), abs=1e-4)
