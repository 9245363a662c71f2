"""Cross-validated probes equal what a careful user writes with scikit-learn, and survive unpleasant data."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from adgcl.core.errors import ConfigError, DataError
from adgcl.core.schema import Task
from adgcl.protocols.probes import probe_folds, probe_split
from tests.embedding_cases import COSTS, classes, embeddings, linear_svc, logistic, random_split

pytestmark = pytest.mark.filterwarnings("ignore")


def published_by_hand(x, y, model, seed, num_folds=10):
    """KFold, a fifth of the rest for validation, one scaler, a grid search on the training part."""
    random = np.random.RandomState(seed)
    valid, test, chosen = [], [], []
    for rest, test_ids in KFold(num_folds, shuffle=True, random_state=random).split(x):
        train, valid_ids = train_test_split(rest, test_size=0.2, random_state=random)
        search = GridSearchCV(model, {"C": COSTS}, cv=5, n_jobs=1)
        fitted = make_pipeline(StandardScaler(), search).fit(x[train], y[train])
        valid.append(fitted.score(x[valid_ids], y[valid_ids]))
        test.append(fitted.score(x[test_ids], y[test_ids]))
        chosen.append(search.best_params_["C"])
    return valid, test, chosen


@pytest.mark.parametrize("n,edges", [(188, [0.3]), (240, [-0.7, 1.2])])
def test_published_folds_equal_grid_search(n, edges):
    x, signal = embeddings(n)
    y = classes(signal, edges)
    task = Task("multiclass", num_classes=len(edges) + 1)
    ours = probe_folds(x, y, task, probe="linear", mode="as_published", seed=7)
    valid, test, chosen = published_by_hand(x, y, linear_svc(), 7)
    assert ours.chosen == tuple(chosen)
    assert ours.valid_folds == pytest.approx(valid) and ours.test_folds == pytest.approx(test)
    assert ours.valid == pytest.approx(np.mean(valid)) and ours.test == pytest.approx(np.mean(test))


def test_published_svm_equals_grid_search():
    x, signal = embeddings(100)
    y = classes(signal, [-0.5, 0.7])
    task = Task("multiclass", num_classes=3)
    ours = probe_folds(x, y, task, probe="svm", mode="as_published", seed=3, num_folds=4)
    valid, test, chosen = published_by_hand(x, y, SVC(), 3, num_folds=4)
    assert ours.chosen == tuple(chosen)
    assert ours.valid_folds == pytest.approx(valid) and ours.test_folds == pytest.approx(test)


@pytest.mark.parametrize("probe", ["linear", "svm"])
def test_strict_folds_equal_nested_cross_validation(probe):
    x, signal = embeddings(120, seed=2)
    y = classes(signal, [0.5])
    ours = probe_folds(x, y, Task("multiclass", num_classes=2), probe=probe, mode="strict", seed=5, num_folds=3)
    model = linear_svc() if probe == "linear" else SVC()
    name = type(model).__name__.lower()
    outer = StratifiedKFold(3, shuffle=True, random_state=5).split(x, y)
    for fold, (train, test) in enumerate(outer):
        inner = StratifiedKFold(5, shuffle=True, random_state=5)
        pipeline = make_pipeline(StandardScaler(), model)
        search = GridSearchCV(pipeline, {f"{name}__C": COSTS}, cv=inner).fit(x[train], y[train])
        assert ours.chosen[fold] == search.best_params_[f"{name}__C"]
        assert ours.valid_folds[fold] == pytest.approx(search.best_score_)
        assert ours.test_folds[fold] == pytest.approx(search.score(x[test], y[test]))


def test_strict_validation_never_sees_the_test_part():
    x, signal = embeddings(120)
    y = classes(signal, [0.0])
    task = Task("multiclass", num_classes=2)
    before = probe_folds(x, y, task, probe="linear", mode="strict", seed=1)
    test = next(StratifiedKFold(10, shuffle=True, random_state=1).split(x, y))[1]
    x[test] = np.random.default_rng(0).normal(size=x[test].shape)
    after = probe_folds(x, y, task, probe="linear", mode="strict", seed=1)
    assert before.valid_folds[0] == after.valid_folds[0] and before.chosen[0] == after.chosen[0]


@pytest.mark.parametrize("mode", ["as_published", "strict"])
@pytest.mark.parametrize("probe", ["linear", "svm"])
def test_own_labels_of_any_kind_can_be_cross_validated(mode, probe):
    x, signal = embeddings(90)
    options = {"probe": probe, "mode": mode, "seed": 0, "num_folds": 3}
    numbers = probe_folds(x, signal, Task("regression"), **options)
    assert 0 < numbers.test < 1.2 * signal.std()
    binary = probe_folds(x, classes(signal, [0.2]), Task("binary"), **options)
    assert 0.6 < binary.test <= 1
    two = np.stack([classes(signal, [0.2]), classes(-signal, [0.4])], axis=1)
    two[::7, 1] = np.nan
    several = probe_folds(x, two, Task("binary", num_tasks=2), **options)
    assert 0.5 < several.test <= 1 and len(several.chosen) == (6 if mode == "strict" else 3)


def test_units_and_order_of_columns_do_not_matter():
    x, signal = embeddings(140)
    y = classes(signal, [0.0])
    task = Task("multiclass", num_classes=2)
    order = np.random.default_rng(0).permutation(x.shape[1])
    changed = (x * np.logspace(3, -3, x.shape[1]) + 5.0)[:, order]
    for mode in ("as_published", "strict"):
        options = {"probe": "linear", "mode": mode, "seed": 0}
        assert probe_folds(x, y, task, **options) == probe_folds(changed, y, task, **options)


def test_unlabelled_graphs_are_left_out():
    x, signal = embeddings(100)
    y = classes(signal, [0.0])
    more_x = np.vstack([x, 100 + x[:7]])
    more_y = np.concatenate([y, np.full(7, np.nan)])
    task = Task("multiclass", num_classes=2)
    for mode in ("as_published", "strict"):
        options = {"probe": "linear", "mode": mode, "seed": 0}
        assert probe_folds(x, y, task, **options) == probe_folds(more_x, more_y, task, **options)


def test_seeds_decide_the_folds():
    x, signal = embeddings(100)
    y, task = classes(signal, [0.0]), Task("multiclass", num_classes=2)
    scores = [probe_folds(x, y, task, probe="linear", mode="as_published", seed=s) for s in (1, 1, 2, 2**40 + 5)]
    assert scores[0] == scores[1] != scores[2]


@pytest.mark.parametrize("mode", ["as_published", "strict"])
def test_rare_classes_and_few_graphs(mode):
    x, signal = embeddings(40)
    y = classes(signal, [0.0])
    y[3] = 2  # a class with one graph
    options = {"probe": "linear", "mode": mode, "seed": 0}
    assert 0.3 < probe_folds(x, y, Task("multiclass", num_classes=3), **options).test <= 1
    few = probe_folds(x[:6], np.array([0.0, 1, 0, 1, 0, 1]), Task("multiclass", num_classes=2), **options)
    assert 0 <= few.test <= 1 and len(few.test_folds) == (6 if mode == "as_published" else 3)


@pytest.mark.parametrize("mode", ["as_published", "strict"])
@pytest.mark.parametrize("probe", ["linear", "svm"])
def test_useless_embeddings_are_judged_without_complaint(probe, mode):
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 40).astype(float)
    options = {"probe": probe, "mode": mode, "seed": 0, "num_folds": 3}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for x in (np.zeros((40, 4)), np.full((40, 1), 3.7), random.normal(size=(40, 150))):
            assert 0 <= probe_folds(x, y, Task("multiclass", num_classes=2), **options).test <= 1
            assert probe_folds(x, y * 3.0, Task("regression"), **options).test > 0


def test_a_binary_class_with_few_graphs_gets_fewer_folds():
    x, signal = embeddings(60)
    y = np.zeros(60)
    y[np.argsort(signal)[-4:]] = 1
    strict = probe_folds(x, y, Task("binary"), probe="linear", mode="strict", seed=0)
    assert len(strict.test_folds) == 4 and not np.isnan(strict.test_folds).any()
    published = probe_folds(x, y, Task("binary"), probe="linear", mode="as_published", seed=0)
    assert np.isnan(published.test_folds).any() and 0 <= published.test <= 1


def test_binary_labels_scored_by_accuracy():
    x, signal = embeddings(120)
    y = classes(signal, [0.0])
    ours = probe_folds(x, y, Task("binary", metric="accuracy"), probe="linear", mode="strict", seed=0, num_folds=3)
    train, test = next(StratifiedKFold(3, shuffle=True, random_state=0).split(x, y))
    inner = StratifiedKFold(5, shuffle=True, random_state=0)
    models = [make_pipeline(StandardScaler(), logistic(c)) for c in COSTS]
    best = models[int(np.argmax([cross_val_score(m, x[train], y[train], cv=inner).mean() for m in models]))]
    assert ours.test_folds[0] == pytest.approx(best.fit(x[train], y[train]).score(x[test], y[test]))


def bad_calls():
    x, signal = embeddings(30)
    y = classes(signal, [0.0])
    two = Task("multiclass", num_classes=2)
    broken = x.copy()
    broken[3, 1] = np.nan
    split = random_split(30)
    folds = {"probe": "linear", "mode": "strict", "seed": 0}
    yield "NaN or infinite", DataError, lambda: probe_folds(broken, y, two, **folds)
    yield "one row per graph", DataError, lambda: probe_folds(x[:20], y, two, **folds)
    yield "no labels", DataError, lambda: probe_folds(x, y, Task("none"), **folds)
    yield "label is missing", DataError, lambda: probe_folds(x, y * np.nan, two, **folds)
    yield "same label", DataError, lambda: probe_folds(x, y * 0, two, **folds)
    yield "too few", DataError, lambda: probe_folds(x[:3], y[:3], two, **folds)
    yield "class numbers", DataError, lambda: probe_folds(x, y + 0.5, two, **folds)
    yield "0 and 1", DataError, lambda: probe_folds(x, y * 2, Task("binary"), **folds)
    yield "single graph", DataError, lambda: probe_folds(x, np.eye(30)[0], Task("binary"), **folds)
    yield "cannot be scored", ConfigError, lambda: probe_folds(x, y, Task("multiclass", metric="rocauc"), **folds)
    yield "no probe called", ConfigError, lambda: probe_folds(x, y, two, **{**folds, "probe": "tree"})
    yield "no mode called", ConfigError, lambda: probe_folds(x, y, two, **{**folds, "mode": "loose"})
    yield "at least 2 folds", ConfigError, lambda: probe_folds(x, y, two, **folds, num_folds=1)
    yield "no part called", DataError, lambda: probe_split(x, y, two, {"train": split["train"]}, **folds)
    yield "occurs twice", DataError, lambda: probe_split(x, y, two, {**split, "test": split["train"]}, **folds)
    yield "outside", DataError, lambda: probe_split(x, y, two, {**split, "test": np.array([99])}, **folds)
    yield "no labelled graph", DataError, lambda: probe_split(x, y, two, {**split, "test": np.array([])}, **folds)
    all_one = np.ones(30)
    yield "both classes", DataError, lambda: probe_split(x, all_one, Task("binary"), split, **folds)


@pytest.mark.parametrize("case", bad_calls(), ids=lambda case: case[0])
def test_bad_calls_say_what_is_wrong(case):
    words, error, call = case
    with pytest.raises(error, match=words):
        call()


def test_class_numbers_may_have_gaps():
    x, signal = embeddings(60)
    y = classes(signal, [-0.5, 0.5])
    options = {"probe": "linear", "mode": "strict", "seed": 0, "num_folds": 3}
    plain = probe_folds(x, y, Task("multiclass", num_classes=3), **options)
    assert plain == probe_folds(x, np.array([0, 7, 10**9])[y.astype(int)], Task("multiclass"), **options)
