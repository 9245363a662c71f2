"""F-GIN: it fits what it is shown, standardises targets, and refuses data it cannot learn from."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from adgcl.core.errors import DataError
from adgcl.core.schema import Task
from adgcl.training.checkpoints import load_checkpoint
from adgcl.training.run_config import resolve
from adgcl.training.run_folder import RunFolder
from adgcl.training.trainer import Trainer
from tests.graph_cases import distinct_store

EIGHT = np.arange(8)
REGRESSION = Task("regression")


def trainer(store, epochs=2, folder=None):
    settings = {
        "method": {"name": "supervised", "lr": 0.01},
        "encoder": {"hidden_dim": 16, "num_layers": 3, "readout": "mean"},
        "training": {"epochs": epochs, "batch_size": 8, "device": "cpu"},
    }
    return Trainer(resolve(settings), store, folder=folder)


def labelled(y, task):
    return distinct_store().with_labels(np.asarray(y, dtype=np.float64).reshape(8, -1), task)


def test_it_learns_eight_graphs_by_heart():
    store = distinct_store()
    method = trainer(store, 150).fit()
    # Evaluation mode: the running statistics must be right too.
    assert (method.predict(store.batch(EIGHT)).argmax(1).numpy() == store.y[:, 0]).all()


@pytest.mark.parametrize(("metric", "error"), [("rmse", "squared"), ("mae", "absolute")])
def test_it_learns_values_in_their_own_unit(metric, error):
    y = 1000.0 + 50.0 * EIGHT
    store = labelled(y, Task("regression", metric=metric))
    method = trainer(store, 150).fit()
    assert method.error == error
    # Off by 100 on average if it said the mean of all.
    assert np.abs(method.predict(store.batch(EIGHT))[:, 0].numpy() - y).mean() < 20


def test_it_learns_several_tasks_of_which_labels_are_missing():
    y = np.stack([EIGHT % 2, EIGHT < 4, EIGHT > 5], axis=1).astype(float)
    y[[0, 3, 5], [1, 0, 2]] = np.nan
    store = labelled(y, Task("binary", num_tasks=3))
    right = (trainer(store, 150).fit().predict(store.batch(EIGHT)).numpy() > 0) == (y == 1)
    assert right[~np.isnan(y)].all()


def test_targets_are_standardised_by_their_present_labels():
    y = np.array([[1.0, np.nan, 5.0]] * 4 + [[3.0, np.nan, np.nan]] * 4)
    method = trainer(labelled(y, Task("regression", num_tasks=3))).method
    assert method.target_mean.tolist() == [2.0, 0.0, 5.0]
    assert method.target_scale.tolist() == [1.0, 1.0, 1.0]  # no label and one value: nothing to divide by


def test_the_unit_of_a_target_changes_nothing():
    losses = []
    for y in (EIGHT, 1e4 + 1e3 * EIGHT):
        store = labelled(y, REGRESSION)
        losses.append(float(trainer(store).method.step(store.batch(EIGHT), torch.Generator())["loss"]))
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)


def test_only_labelled_graphs_are_trained_on():
    y = np.where(EIGHT < 4, EIGHT % 2, np.nan)
    task = Task("multiclass", num_classes=2)
    some, few = labelled(y, task), labelled(y, task).select(EIGHT[:4])
    ours, theirs = trainer(some, 3).fit(), trainer(few, 3).fit()
    torch.testing.assert_close(ours.state_dict(), theirs.state_dict(), rtol=0, atol=0)


@pytest.mark.parametrize(
    ("y", "task", "says"),
    [
        (None, Task("none", num_tasks=0), "have none"),
        (None, Task("multiclass", num_classes=2), "every label is missing"),
        ([np.nan] * 8, REGRESSION, "every label is missing"),
        ([np.inf] + [0.0] * 7, REGRESSION, "infinite"),
        (EIGHT, Task("multiclass", num_classes=3), "class numbers 0 to 2"),
        (EIGHT / 2, Task("multiclass", num_classes=8), "class numbers"),
        (EIGHT, Task("binary"), "class numbers 0 to 1"),
        (np.ones((8, 2)), Task("binary", num_tasks=3), "2 columns"),
    ],
)
def test_data_that_teaches_nothing_is_refused_at_once(y, task, says):
    store = distinct_store().with_labels(None, task) if y is None else labelled(y, task)
    with pytest.raises(DataError, match=says):
        trainer(store)


def test_a_loaded_checkpoint_predicts_the_same(tmp_path):
    store = labelled(1000.0 + 50.0 * EIGHT, REGRESSION)
    method = trainer(store, folder=RunFolder(tmp_path)).fit()
    loaded = load_checkpoint(RunFolder(tmp_path).checkpoint).make_method()
    batch = store.batch(EIGHT)
    torch.testing.assert_close(loaded.predict(batch), method.predict(batch), rtol=0, atol=0)
