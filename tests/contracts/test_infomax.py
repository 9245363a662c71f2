"""InfoMax with labels: the same start whatever is learned besides, labels of the training part only, exact resume."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from adgcl.core.errors import DataError
from adgcl.core.schema import Task
from adgcl.data.dataset import Dataset, Origin
from adgcl.protocols.unsupervised import Unsupervised, UnsupervisedConfig
from adgcl.training.run_config import resolve
from adgcl.training.run_folder import RunFolder
from adgcl.training.trainer import Trainer, build_method
from tests.graph_cases import distinct_store, random_store

STORE = random_store(num_graphs=24, seed=2)
LABELLED = STORE.with_labels((np.arange(24) % 2)[:, None].astype(float), Task("binary"))


def settings(labels, seed=0, epochs=2, **method):
    encoder = {"name": "gin", "hidden_dim": 8, "num_layers": 2}
    training = {"epochs": epochs, "batch_size": 6, "device": "cpu", "seed": seed, "checkpoint_seconds": 0.0}
    method = {"name": "infomax", "labels": labels, **method}
    return resolve({"method": method, "encoder": encoder, "training": training})


def build(labels, seed=0):
    return build_method(settings(labels, seed), LABELLED.spec, LABELLED.task)


def test_encoders_start_alike_and_so_does_adgcl_s():
    plain = build("none").state_dict()
    adgcl = build_method(settings("none").model_copy(update={"method": resolve({"method": "adgcl"}).method}),
                         LABELLED.spec, LABELLED.task).state_dict()  # fmt: skip
    for other in (build("random").state_dict(), build("true").state_dict(), adgcl):
        for name, value in plain.items():
            torch.testing.assert_close(other[name], value, rtol=0, atol=0)


def test_random_labels_are_fair_fixed_and_the_seed_s():
    store = random_store(num_graphs=2000, seed=1)
    first, again, other = (build("random", seed).begin(store).y for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    assert set(np.unique(first)) == {0.0, 1.0} and first.mean() == pytest.approx(0.5, abs=0.04)


def test_random_labels_are_learned_by_heart():
    store = distinct_store(node_sizes=(4,))
    method = build_method(settings("random", lr=0.01, label_weight=20.0), store.spec, store.task)
    batch = method.begin(store).batch(np.arange(8))
    losses = [float(method.step(batch, torch.Generator())["label_loss"]) for _ in range(300)]
    assert losses[-1] < 0.5 * np.log(2), "better than guessing"


@pytest.mark.parametrize("kind", ["split", "folds"])
def test_the_protocol_shows_labels_of_the_training_part_alone(kind, monkeypatch):
    """Labels of other parts may change at will: what is learned stays the same."""
    parts = {"train": np.arange(12), "valid": np.arange(12, 18), "test": np.arange(18, 24)}
    protocol = Unsupervised(UnsupervisedConfig(evaluate_every=2, num_folds=2))
    seen = []
    fit = Trainer.fit

    def spy(self, *arguments):
        seen.append(self.store.y)
        return fit(self, *arguments)

    monkeypatch.setattr(Trainer, "fit", spy)
    dataset = Dataset("toy", LABELLED, Origin("own"), split=parts if kind == "split" else None)
    if kind == "folds":
        with pytest.raises(DataError, match="no training part"):
            protocol.run_seed(dataset, settings("true"))
        return
    protocol.run_seed(dataset, settings("true"))
    np.testing.assert_array_equal(seen[0][:12], LABELLED.y[:12])
    assert np.isnan(seen[0][12:]).all()


def test_a_resumed_run_ends_with_the_same_file(tmp_path):
    def train(name, epochs):
        Trainer(settings("random", epochs=epochs), STORE, folder=RunFolder(tmp_path / name), resume=True).fit()

    train("whole", 4)
    train("parts", 2)
    train("parts", 4)
    files = [RunFolder(tmp_path / name).checkpoint.read_bytes() for name in ("whole", "parts")]
    assert files[0] == files[1]


def test_there_must_be_labels_to_learn():
    with pytest.raises(DataError, match="no labels"):
        build_method(settings("true"), STORE.spec, Task("none"))


def test_regression_targets_are_standardised():
    y = 1000 + 50 * np.arange(24.0)[:, None]
    y[3] = np.nan
    store = replace(STORE, y=y, task=Task("regression"))
    shown = build_method(settings("true"), store.spec, store.task).begin(store).y
    assert np.nanmean(shown) == pytest.approx(0.0, abs=1e-9) and np.nanstd(shown) == pytest.approx(1.0)
    assert np.isnan(shown[3])
