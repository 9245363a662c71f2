"""Probes of fingerprints, which have more columns than rows, equal what a careful user writes with scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import roc_auc_score, root_mean_squared_error
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from adgcl.core.schema import Task
from adgcl.protocols.probes import probe_folds, probe_split
from tests.embedding_cases import ALPHAS, COSTS, random_split
from tests.fingerprint_cases import bace_fingerprints

pytestmark = pytest.mark.filterwarnings("ignore")

SEED, FOLDS = 3, 2
# liblinear takes a second for a fit of a hundred fingerprints with C = 1, so support vector machines get fewer.
KINDS = {
    "svc": (Task("multiclass", num_classes=2), LinearSVC(dual=False, tol=1e-6, max_iter=2000), "accuracy", 60),
    "logistic": (Task("binary"), LogisticRegression(tol=1e-9, max_iter=1000, solver="newton-cg"), "roc_auc", 120),
}


@pytest.fixture(scope="module")
def bace(data_dir):
    return bace_fingerprints(data_dir, 120)


def logistic(cost=1.0):
    return LogisticRegression(C=cost, tol=1e-9, max_iter=1000, solver="newton-cg")


@pytest.mark.parametrize("kind", KINDS)
def test_published_folds_equal_grid_search(kind, bace):
    task, model, scoring, count = KINDS[kind]
    x, y = (rows[:count] for rows in bace)
    ours = probe_folds(x, y, task, probe="linear", mode="as_published", seed=SEED, num_folds=FOLDS)
    random = np.random.RandomState(SEED)
    for fold, (rest, test) in enumerate(KFold(FOLDS, shuffle=True, random_state=random).split(x)):
        train, valid = train_test_split(rest, test_size=0.2, random_state=random)
        search = GridSearchCV(model, {"C": COSTS}, cv=5, scoring=scoring)
        fitted = make_pipeline(StandardScaler(), search).fit(x[train], y[train])
        assert ours.chosen[fold] == search.best_params_["C"]
        assert ours.valid_folds[fold] == pytest.approx(fitted.score(x[valid], y[valid]))
        assert ours.test_folds[fold] == pytest.approx(fitted.score(x[test], y[test]))


@pytest.mark.parametrize("kind", KINDS)
def test_strict_folds_equal_nested_cross_validation(kind, bace):
    task, model, scoring, count = KINDS[kind]
    x, y = (rows[:count] for rows in bace)
    ours = probe_folds(x, y, task, probe="linear", mode="strict", seed=SEED, num_folds=FOLDS)
    name = type(model).__name__.lower()
    for fold, (train, test) in enumerate(StratifiedKFold(FOLDS, shuffle=True, random_state=SEED).split(x, y)):
        inner = StratifiedKFold(5, shuffle=True, random_state=SEED)
        pipeline = make_pipeline(StandardScaler(), model)
        search = GridSearchCV(pipeline, {f"{name}__C": COSTS}, cv=inner, scoring=scoring).fit(x[train], y[train])
        assert ours.chosen[fold] == search.best_params_[f"{name}__C"]
        assert ours.valid_folds[fold] == pytest.approx(search.best_score_)
        assert ours.test_folds[fold] == pytest.approx(search.score(x[test], y[test]))


def tasks_with_gaps(x, y):
    """Three tasks that miss a third of their labels, and a split."""
    random = np.random.default_rng(0)
    bits = x[:, np.argsort(np.abs(x.mean(0) - 0.5))[:2]]
    tasks = np.column_stack([y, bits])
    tasks[random.random(tasks.shape) < 0.33] = np.nan
    tasks[np.isnan(tasks).all(1), 0] = 1.0
    return tasks, random_split(len(x))


def test_strict_split_masks_missing_labels(bace):
    x, y = bace
    y, split = tasks_with_gaps(x, y)
    ours = probe_split(x, y, Task("binary", num_tasks=3), split, probe="linear", mode="strict")
    z = StandardScaler().fit(x[split["train"]]).transform(x)
    valid, test = [], []
    for t in range(3):
        ids = {part: i[~np.isnan(y[i, t])] for part, i in split.items()}
        models = [logistic(c).fit(z[ids["train"]], y[ids["train"], t]) for c in COSTS]
        scores = [roc_auc_score(y[ids["valid"], t], m.decision_function(z[ids["valid"]])) for m in models]
        best = int(np.argmax(scores))
        assert ours.chosen[t] == COSTS[best]
        valid.append(scores[best])
        test.append(roc_auc_score(y[ids["test"], t], models[best].decision_function(z[ids["test"]])))
    assert ours.valid == pytest.approx(np.mean(valid)) and ours.test == pytest.approx(np.mean(test))


def test_published_split_fills_missing_labels(bace):
    x, y = bace
    y, split = tasks_with_gaps(x, y)
    ours = probe_split(x, y, Task("binary", num_tasks=3), split, probe="linear", mode="as_published")
    z = StandardScaler().fit(x[split["train"]]).transform(x)
    scores = []
    for t in range(3):
        test = split["test"][~np.isnan(y[split["test"], t])]
        model = logistic().fit(z[split["train"]], np.nan_to_num(y)[split["train"], t])
        scores.append(roc_auc_score(y[test, t], model.decision_function(z[test])))
    assert ours.test == pytest.approx(np.mean(scores))


def test_strict_regression_equals_ridge(bace):
    x, y = bace
    number, split = x.sum(1) / 10 + y, random_split(len(x))
    ours = probe_split(x, number, Task("regression"), split, probe="linear", mode="strict")
    train, valid, test = (split[part] for part in ("train", "valid", "test"))
    z = StandardScaler().fit(x[train]).transform(x)
    models = [Ridge(alpha=a * len(train), solver="svd").fit(z[train], number[train]) for a in ALPHAS]
    errors = [root_mean_squared_error(number[valid], m.predict(z[valid])) for m in models]
    best = int(np.argmin(errors))
    assert ours.chosen == (ALPHAS[best],)
    assert ours.valid == pytest.approx(errors[best], rel=1e-7)
    assert ours.test == pytest.approx(root_mean_squared_error(number[test], models[best].predict(z[test])), rel=1e-7)
