"""Probes on a given split equal what a careful user writes with scikit-learn."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_absolute_error, roc_auc_score, root_mean_squared_error
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from adgcl.core.schema import Task
from adgcl.protocols.metrics import score
from adgcl.protocols.probes import probe_split
from tests.embedding_cases import ALPHAS, COSTS, classes, embeddings, linear_svc, logistic, random_split
from tests.real_data import absent

pytestmark = pytest.mark.filterwarnings("ignore")


def test_published_split_of_one_binary_task_equals_grid_search():
    x, signal = embeddings(300)
    y, split = classes(signal, [0.6]), random_split(300)
    ours = probe_split(x, y, Task("binary"), split, probe="linear", mode="as_published", seed=0)
    search = GridSearchCV(logistic(), {"C": COSTS}, cv=5, scoring="roc_auc")
    model = make_pipeline(StandardScaler(), search).fit(x[split["train"]], y[split["train"]])
    assert ours.chosen == (search.best_params_["C"],)
    for part, value in (("valid", ours.valid), ("test", ours.test)):
        ids = split[part]
        assert value == pytest.approx(roc_auc_score(y[ids], model.decision_function(x[ids])), abs=1e-9)


def several_tasks(n=260):
    """Five columns: missing labels, one class only in training, nothing but missing labels."""
    x, signal = embeddings(n, seed=4)
    split = random_split(n)
    random = np.random.default_rng(0)
    y = np.stack([classes(signal + random.normal(size=n), [edge]) for edge in (-0.5, 0, 1, 0, 0)], axis=1)
    y[random.random(y.shape) < 0.3] = np.nan
    y[split["train"], 3] = np.where(np.isnan(y[split["train"], 3]), np.nan, 1.0)
    y[:, 4] = np.nan
    y[np.isnan(y).all(1), 0] = 1.0  # every graph has a label of some task
    return x, y, split


def test_published_split_of_several_tasks_fills_missing_labels_and_searches_nothing():
    x, y, split = several_tasks()
    ours = probe_split(x, y, Task("binary", num_tasks=5), split, probe="linear", mode="as_published", seed=0)
    scaled = StandardScaler().fit(x[split["train"]]).transform(x)
    filled = np.nan_to_num(y)[split["train"]]
    models = [logistic().fit(scaled[split["train"]], filled[:, t]) for t in range(4)]
    decisions = np.stack([m.decision_function(scaled) for m in models] + [np.zeros(len(x))], axis=1)
    assert ours.chosen == (1.0,)
    assert ours.valid == pytest.approx(score("rocauc", y[split["valid"]], decisions[split["valid"]]), abs=1e-9)
    assert ours.test == pytest.approx(score("rocauc", y[split["test"]], decisions[split["test"]]), abs=1e-9)


def test_strict_split_masks_missing_labels_and_chooses_per_task():
    x, y, split = several_tasks()
    ours = probe_split(x, y, Task("binary", num_tasks=5), split, probe="linear", mode="strict", seed=0)
    scaled = StandardScaler().fit(x[split["train"]]).transform(x)
    valid, test = [], [0.5]  # task 3 has one class in training: a constant, whose AUC is one half
    for t in range(3):
        ids = {part: i[~np.isnan(y[i, t])] for part, i in split.items()}
        models = [logistic(c).fit(scaled[ids["train"]], y[ids["train"], t]) for c in COSTS]
        scores = [roc_auc_score(y[ids["valid"], t], m.decision_function(scaled[ids["valid"]])) for m in models]
        best = int(np.argmax(scores))
        assert ours.chosen[t] == COSTS[best]
        valid.append(scores[best])
        test.append(roc_auc_score(y[ids["test"], t], models[best].decision_function(scaled[ids["test"]])))
    assert ours.valid == pytest.approx(np.mean([*valid, 0.5]), abs=1e-9)
    assert ours.test == pytest.approx(np.mean(test), abs=1e-9)


class OldRidge(Ridge):
    """Ridge with the `normalize=True` that scikit-learn had before 1.2."""

    def fit(self, x, y):
        self.mean_ = x.mean(0)
        norm = np.linalg.norm(x - self.mean_, axis=0)
        self.norm_ = np.where(norm > 1e-12, norm, 1.0)
        return super().fit((x - self.mean_) / self.norm_, y)

    def predict(self, x):
        return super().predict((x - self.mean_) / self.norm_)


@pytest.fixture(scope="module")
def esol(data_dir):
    """Labels, scaffold split and simple features (sums of atom features through a random layer) of real molecules."""
    folder = data_dir / "ogb" / "ogbg_molesol"
    if not folder.is_dir():
        absent(f"ESOL is not in {folder}.")

    def table(path):
        with gzip.open(folder / path, "rt") as file:
            return np.loadtxt(file, delimiter=",", ndmin=2)

    counts = table("raw/num-node-list.csv.gz")[:, 0].astype(int)
    sums = np.add.reduceat(table("raw/node-feat.csv.gz"), np.r_[0, np.cumsum(counts)[:-1]])
    layer = np.random.default_rng(0).normal(size=(sums.shape[1], 40))
    x = np.maximum(sums @ layer, 0)
    split = {p: table(f"split/scaffold/{p}.csv.gz")[:, 0].astype(int) for p in ("train", "valid", "test")}
    return x, table("raw/graph-label.csv.gz"), split


@pytest.mark.parametrize("metric,error", [("rmse", root_mean_squared_error), ("mae", mean_absolute_error)])
def test_published_regression_equals_grid_search_on_real_molecules(metric, error, esol):
    x, y, split = esol
    ours = probe_split(x, y, Task("regression", metric=metric), split, probe="linear", mode="as_published", seed=0)
    scoring = {"rmse": "neg_root_mean_squared_error", "mae": "neg_mean_absolute_error"}[metric]
    search = GridSearchCV(OldRidge(solver="svd"), {"alpha": ALPHAS}, cv=5, scoring=scoring)
    search.fit(x[split["train"]], y[split["train"], 0])
    assert ours.chosen == (search.best_params_["alpha"],)
    assert ours.valid == pytest.approx(error(y[split["valid"], 0], search.predict(x[split["valid"]])), rel=1e-6)
    assert ours.test == pytest.approx(error(y[split["test"], 0], search.predict(x[split["test"]])), rel=1e-6)
    assert ours.test < 0.8 * np.abs(y[split["test"], 0] - y[split["train"], 0].mean()).max()


def test_strict_regression_standardises_and_chooses_on_the_validation_part(esol):
    x, y, split = esol
    ours = probe_split(x, y, Task("regression"), split, probe="linear", mode="strict", seed=0)
    train, valid, test = (split[part] for part in ("train", "valid", "test"))
    scaled = StandardScaler().fit(x[train]).transform(x)
    models = [Ridge(alpha=a * len(train), solver="svd").fit(scaled[train], y[train, 0]) for a in ALPHAS]
    errors = [root_mean_squared_error(y[valid, 0], m.predict(scaled[valid])) for m in models]
    best = int(np.argmin(errors))
    assert ours.chosen == (ALPHAS[best],)
    assert ours.valid == pytest.approx(errors[best], rel=1e-6)
    assert ours.test == pytest.approx(root_mean_squared_error(y[test, 0], models[best].predict(scaled[test])), rel=1e-6)


def test_svm_on_a_split():
    x, signal = embeddings(150)
    split = random_split(150)
    train, test = split["train"], split["test"]
    scaled = StandardScaler().fit(x[train]).transform(x)
    y = classes(signal, [0.2])
    ours = probe_split(x, y, Task("binary"), split, probe="svm", mode="as_published", seed=0)
    search = GridSearchCV(SVC(), {"C": COSTS}, cv=5, scoring="roc_auc").fit(scaled[train], y[train])
    assert ours.chosen == (search.best_params_["C"],)
    assert ours.test == pytest.approx(roc_auc_score(y[test], search.decision_function(scaled[test])), abs=1e-3)
    numbers = probe_split(x, signal, Task("regression"), split, probe="svm", mode="as_published", seed=0)
    centre, spread = signal[train].mean(), signal[train].std()
    model = SVR(C=numbers.chosen[0]).fit(scaled[train], (signal[train] - centre) / spread)
    expected = root_mean_squared_error(signal[test], model.predict(scaled[test]) * spread + centre)
    assert numbers.test == pytest.approx(expected, rel=1e-3)


def test_classes_on_a_split():
    x, signal = embeddings(200)
    y, split = classes(signal, [-0.5, 0.5]), random_split(200)
    ours = probe_split(x, y, Task("multiclass", num_classes=3), split, probe="linear", mode="strict", seed=0)
    scaled = StandardScaler().fit(x[split["train"]]).transform(x)
    models = [linear_svc(c).fit(scaled[split["train"]], y[split["train"]]) for c in COSTS]
    scores = [m.score(scaled[split["valid"]], y[split["valid"]]) for m in models]
    assert ours.valid == max(scores)
    assert ours.test == models[int(np.argmax(scores))].score(scaled[split["test"]], y[split["test"]])


def test_order_of_graphs_does_not_matter_when_the_split_moves_along():
    x, y, split = several_tasks()
    place = np.random.default_rng(1).permutation(len(x))
    moved_x, moved_y = np.empty_like(x), np.empty_like(y)
    moved_x[place], moved_y[place] = x, y
    moved_split = {part: place[ids] for part, ids in split.items()}
    task = Task("binary", num_tasks=5)
    for mode in ("as_published", "strict"):
        options = {"probe": "linear", "mode": mode, "seed": 0}
        here = probe_split(x, y, task, split, **options)
        there = probe_split(moved_x, moved_y, task, moved_split, **options)
        assert here.test == pytest.approx(there.test) and here.chosen == there.chosen
