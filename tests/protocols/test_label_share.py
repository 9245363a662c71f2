"""Which labels are shown: as scikit-learn would draw them, or in a stratified order that only grows."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold

from adgcl.core.errors import ConfigError, DataError
from adgcl.core.schema import Task
from adgcl.data.dataset import Dataset, Origin
from adgcl.data.load import load_dataset
from adgcl.protocols.label_parts import absent_classes, labelled_parts
from adgcl.protocols.label_share import published_share, stratified_order, teaches
from tests.graph_cases import random_store

CLASSES, VALUES = Task("multiclass", num_classes=3), Task("regression")


def dataset(y, task=CLASSES, split=None):
    store = random_store(num_graphs=len(y), seed=1).with_labels(np.asarray(y, float).reshape(len(y), -1), task)
    return Dataset("toy", store, Origin("own"), split=split)


def drawn(counts, seed=0):
    return np.random.default_rng(seed).permutation(np.repeat(np.arange(len(counts)), counts))


def by_sklearn(y, folds, parts):
    """GraphCL's folds, and the first held-out part of the training graphs of each."""
    outer = StratifiedKFold(folds, shuffle=True, random_state=12345)
    for train, test in outer.split(y, y):
        if parts > 1:
            inner = StratifiedKFold(parts, shuffle=True, random_state=12345)
            train = train[next(inner.split(train, y[train]))[1]]
        yield train, test


@pytest.mark.parametrize(("folds", "rate"), [(10, 0.1), (5, 0.2), (3, 0.5), (4, 1.0)])
def test_published_parts_are_graphcls(folds, rate):
    y = drawn([90, 60, 51])
    found = labelled_parts(dataset(y), "as_published", 3, folds, rate)
    for part, (train, test) in zip(found, by_sklearn(y, folds, round(1 / rate)), strict=True):
        np.testing.assert_array_equal(part.train, train)
        np.testing.assert_array_equal(part.test, test)
        np.testing.assert_array_equal(part.valid, test)
    again = labelled_parts(dataset(y), "as_published", 4, folds, rate)
    assert all(np.array_equal(a.train, b.train) for a, b in zip(found, again)), "every repeat has the same labels"


@pytest.mark.parametrize(("name", "labels"), [("NCI1", 370), ("PROTEINS", 100), ("DD", 106)])
def test_published_numbers_of_labels(data_dir, name, labels):
    parts = labelled_parts(load_dataset(name, data_dir=data_dir), "as_published", 0, 10, 0.1)
    assert all(abs(len(part.train) - labels) <= 1 for part in parts)


def test_strict_parts_are_apart_stratified_and_differ_between_seeds():
    y = drawn([200, 100, 60])
    found = labelled_parts(dataset(y), "strict", 0, 10, 0.1)
    assert sorted(np.concatenate([part.test for part in found])) == list(range(360))
    for part in found:
        assert len(set(np.concatenate(part))) == sum(map(len, part))
        assert len(part.train) == round(0.1 * (360 - len(part.valid) - len(part.test)))
        assert np.all(np.abs(np.bincount(y[part.train]) - 29 * np.array([200, 100, 60]) / 360) <= 1)
        assert set(y[part.valid]) == {0, 1, 2}
    other = labelled_parts(dataset(y), "strict", 1, 10, 0.1)
    assert not any(np.array_equal(a.train, b.train) for a, b in zip(found, other))


@pytest.mark.parametrize("task", [CLASSES, VALUES])
def test_a_larger_share_contains_a_smaller_and_each_is_in_proportion(task):
    y = (drawn([50, 30, 20]) if task is CLASSES else np.random.default_rng(1).normal(size=100))[:, None].astype(float)
    order = stratified_order(y, task, np.random.default_rng(0))
    assert sorted(order) == list(range(100))
    groups = y[:, 0] if task is CLASSES else np.searchsorted(np.sort(y[:, 0]), y[:, 0]) // 10
    for size in range(10, 101):
        counts = np.unique(groups[order[:size]], return_counts=True)[1]
        expected = np.unique(groups, return_counts=True)[1] * size / 100
        assert len(counts) == len(expected) and np.all(np.abs(counts - expected) <= 1)


def test_labels_that_choose_the_epoch_are_part_of_the_share():
    y = drawn([300, 200])
    for rate, spared in ((0.05, 0), (0.2, 18), (1.0, 90)):
        for part in labelled_parts(dataset(y, Task("multiclass", num_classes=2)), "strict", 0, 10, rate, "labels"):
            assert len(part.train) + len(part.valid) == round(rate * 450) and len(part.valid) == spared
            assert not set(part.train) & set(part.valid)
            assert not spared or abs(np.mean(y[part.valid]) - 0.4) < 0.1


def test_a_rare_class_teaches_before_it_chooses_the_epoch():
    """Two graphs of five hundred: in an order that is in proportion, the first of them comes late."""
    y = drawn([300, 198, 2])
    for rate in (0.55, 0.6, 1.0):
        for part in labelled_parts(dataset(y), "strict", 0, 2, rate, "labels"):
            assert set(y[part.train]) == {0, 1, 2} and len(part.valid) > 0


def test_graphs_without_labels_are_in_no_part():
    y = drawn([60, 60]).astype(float)
    y[::4] = np.nan
    for mode in ("as_published", "strict"):
        for part in labelled_parts(dataset(y, Task("multiclass", num_classes=2)), mode, 0, 5, 0.5):
            assert not np.isnan(y[np.concatenate(part)]).any()


def test_a_split_of_the_data_is_kept():
    y = drawn([60, 60])
    split = {"train": np.arange(80), "valid": np.arange(80, 100), "test": np.arange(100, 120)}
    (part,) = labelled_parts(dataset(y, Task("multiclass", num_classes=2), split), "strict", 0, 10, 0.25)
    assert len(part.train) == 20 and set(part.train) <= set(range(80))
    np.testing.assert_array_equal(part.valid, split["valid"])
    (whole,) = labelled_parts(dataset(y, Task("multiclass", num_classes=2), split), "strict", 0, 10, 1.0, "labels")
    assert len(whole.train) + len(whole.valid) == 100, "validation graphs are labels like others"


def advised(error: DataError | ConfigError) -> float:
    """The share of labels that the hint of an error says to use."""
    assert error.hint is not None
    return float(error.hint.partition("label_rate=")[2].split()[0].rstrip(".,"))


@pytest.mark.parametrize("counts", [[150, 40, 10], [200, 100, 13]])
@pytest.mark.parametrize("mode", ["as_published", "strict"])
def test_too_few_labels_name_the_smallest_share_that_works(mode, counts):
    y = drawn(counts)
    with pytest.raises(DataError, match="not all 3 classes") as caught:
        labelled_parts(dataset(y), mode, 0, 10, 0.02)
    works = advised(caught.value)
    assert len(labelled_parts(dataset(y), mode, 0, 10, works)) == 10
    assert ("or more" in caught.value.hint) == (mode == "strict"), "as published, most larger shares are none"
    lower = 1 / (round(1 / works) + 1) if mode == "as_published" else works - 0.004
    with pytest.raises(DataError, match="smallest share"):
        labelled_parts(dataset(y), mode, 0, 10, lower)


def test_a_share_without_any_label_and_too_few_graphs_for_the_folds():
    y = drawn([50, 50])
    with pytest.raises(DataError, match="no labelled graph"):
        labelled_parts(dataset(y, Task("multiclass", num_classes=2)), "strict", 0, 10, 0.001)
    with pytest.raises(DataError, match="too few for 10 folds"):
        labelled_parts(dataset(y[:15], Task("multiclass", num_classes=2)), "strict", 0, 10, 0.5)


@pytest.mark.parametrize(("mode", "graphs", "lacking"), [("strict", 1, 2), ("as_published", 1, 1), ("strict", 3, 0)])
def test_a_class_that_some_fold_cannot_learn_is_named(mode, graphs, lacking):
    """Where a class has one graph, no rate helps: the other classes are still worth a score."""
    task = Task("multiclass", num_classes=3, names=("low", "high", "odd"))
    data = dataset(np.r_[np.zeros(60), np.ones(60), [2.0] * graphs], task)
    parts = labelled_parts(data, mode, 0, 10, 1.0)
    note = f"Class odd has 1 labelled graph: no label of it was shown in {lacking} of 10 folds."
    assert absent_classes(data, parts) == ([note] if lacking else [])


@pytest.mark.parametrize("mode", ["as_published", "strict"])
def test_where_all_labels_are_the_same_there_is_nothing_to_predict(mode):
    for task in (VALUES, CLASSES, Task("binary")):
        with pytest.raises(DataError, match="nothing to predict"):
            labelled_parts(dataset(np.ones(60), task), mode, 0, 10, 0.5)
    split = {"train": np.arange(40), "valid": np.arange(40, 50), "test": np.arange(50, 60)}
    for task, lacks in ((VALUES, "different values"), (Task("multiclass", num_classes=2), "all 2 classes")):
        learns_nothing = dataset(np.r_[np.ones(40), np.zeros(20)], task, split)
        with pytest.raises(DataError, match=f"not {lacks}, and no share would be enough"):
            labelled_parts(learns_nothing, "strict", 0, 10, 0.5)


def test_only_whole_numbers_of_parts_are_published():
    with pytest.raises(ConfigError, match="one of several equal parts") as caught:
        published_share(np.zeros((40, 1)), CLASSES, 0.3)
    third = published_share(np.zeros((40, 1)), CLASSES, 1 / 3)
    assert advised(caught.value) == 0.3333
    np.testing.assert_array_equal(published_share(np.zeros((40, 1)), CLASSES, 0.3333), third)
    assert not teaches(np.array([[0.0], [1.0]]), CLASSES, np.array([0]))
    assert teaches(np.array([[0.5], [1.5], [1.5]]), VALUES, np.array([0, 2]))
    assert not teaches(np.array([[0.5], [1.5], [1.5]]), VALUES, np.array([1, 2]))
