"""On embeddings of real graphs the probes find scikit-learn's coefficients, its choice of penalty and its scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.metrics import roc_auc_score, root_mean_squared_error
from sklearn.model_selection import GridSearchCV, KFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from adgcl.core.errors import DataMissingError
from adgcl.core.schema import Task
from adgcl.data.load import load_dataset
from adgcl.protocols.probes import probe_folds, probe_split
from adgcl.protocols.solvers import fit_linear_svc, fit_logistic, fit_ridge, fit_scaling, one_vs_rest
from adgcl.training.embedding import embed_store
from adgcl.training.run_config import resolve
from adgcl.training.trainer import Trainer
from tests.embedding_cases import ALPHAS, COSTS, linear_svc, logistic
from tests.real_data import absent

pytestmark = pytest.mark.filterwarnings("ignore")

SEED = 7
# Width and epochs of the network. Beyond 64 columns the solvers go another way, so molecules are wider.
NETWORKS = {
    "MUTAG": (32, 3),
    "PROTEINS": (32, 1),
    "IMDB-MULTI": (32, 1),
    "ogbg-molbace": (96, 0),
    "ogbg-molesol": (96, 0),
}
# scikit-learn needs up to a second for a fit that is exact; so many of the ten folds are compared.
FOLDS = {"MUTAG": 4, "PROTEINS": 2, "IMDB-MULTI": 1}


@dataclass(frozen=True)
class Embedded:
    """Real graphs as a network embeds them."""

    x: np.ndarray
    y: np.ndarray
    task: Task
    split: dict[str, np.ndarray]

    def part(self, name):
        return self.x[self.split[name]], self.y[self.split[name]]


@pytest.fixture(scope="module")
def embedded(data_dir):
    made = {}

    def embed(name):
        if name not in made:
            made[name] = _embed(name, data_dir)
        return made[name]

    return embed


def _embed(name, data_dir):
    width, epochs = NETWORKS[name]
    features = "labels" if name.startswith("ogbg") else "constant"
    try:
        dataset = load_dataset(name, data_dir=data_dir, features=features)
    except DataMissingError as error:
        absent(str(error))
    run = resolve(
        {
            "method": "adgcl",
            "encoder": {"hidden_dim": width},
            "training": {"epochs": epochs, "batch_size": 128, "device": "cpu", "threads": 1},
        }
    )
    store = dataset.store
    embedding = embed_store(Trainer(run, store).fit(), store).astype(np.float64)
    return Embedded(embedding, store.y[:, 0], store.task, dict(dataset.split or {}))


def assert_same(ours, theirs):
    assert np.abs(ours - theirs).max() <= 1e-4 * np.abs(theirs).max()


@pytest.mark.parametrize("name", ["MUTAG", "PROTEINS", "IMDB-MULTI"])
def test_support_vector_machines_are_linear_svc(name, embedded):
    data = embedded(name)
    train = np.random.default_rng(0).random((1, len(data.x))) < 0.72
    signs = one_vs_rest(data.y.astype(int), train, data.task.num_classes)
    models = fit_linear_svc(data.x, signs, COSTS, fit_scaling(data.x, train)[np.zeros(len(signs), dtype=int)])
    scaled = StandardScaler().fit_transform(data.x[train[0]])
    for g, cost in enumerate(COSTS):
        reference = linear_svc(cost).fit(scaled, data.y[train[0]])
        for p in range(len(signs)):
            assert_same(models.coef[g, p], reference.coef_[p])
            assert models.intercept[g, p] == pytest.approx(reference.intercept_[p], rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("name", ["MUTAG", "ogbg-molbace"])
def test_logistic_regressions_are_sklearns(name, embedded):
    data = embedded(name)
    train = np.random.default_rng(0).random((1, len(data.x))) < 0.72
    signs = one_vs_rest(data.y.astype(int), train, 2)
    models = fit_logistic(data.x, signs, COSTS, fit_scaling(data.x, train))
    scaled = StandardScaler().fit_transform(data.x[train[0]])
    for g, cost in enumerate(COSTS):
        reference = logistic(cost).fit(scaled, data.y[train[0]])
        assert_same(models.coef[g, 0], reference.coef_[0])
        assert models.intercept[g, 0] == pytest.approx(reference.intercept_[0], rel=1e-4, abs=1e-6)


def test_ridge_is_sklearns(embedded):
    data = embedded("ogbg-molesol")
    scaled = StandardScaler().fit_transform(data.x)
    models = fit_ridge(data.x, data.y[:, None], ALPHAS, normalise=True)
    spread = data.x.std(0)
    for g, alpha in enumerate(ALPHAS):
        # Columns of length 1 instead of variance 1 are the same with n times the penalty.
        reference = Ridge(alpha=alpha * len(scaled), solver="svd").fit(scaled, data.y)
        assert_same(models.coef[g, 0] * spread, reference.coef_)
        assert_same(models.predict(data.x, g)[:, 0], reference.predict(scaled))


@pytest.mark.parametrize("name", ["MUTAG", "PROTEINS", "IMDB-MULTI"])
def test_folds_are_those_of_grid_search(name, embedded):
    data = embedded(name)
    ours = probe_folds(data.x, data.y, data.task, probe="linear", mode="as_published", seed=SEED)
    random = np.random.RandomState(SEED)
    for fold, (rest, test) in enumerate(KFold(10, shuffle=True, random_state=random).split(data.x)):
        train, valid = train_test_split(rest, test_size=0.2, random_state=random)
        if fold >= FOLDS[name]:
            break
        search = GridSearchCV(linear_svc(), {"C": COSTS}, cv=5)
        model = make_pipeline(StandardScaler(), search).fit(data.x[train], data.y[train])
        assert ours.chosen[fold] == search.best_params_["C"]
        assert ours.valid_folds[fold] == model.score(data.x[valid], data.y[valid])
        assert ours.test_folds[fold] == model.score(data.x[test], data.y[test])


def test_split_of_molecules_is_that_of_grid_search(embedded):
    data = embedded("ogbg-molbace")
    ours = probe_split(data.x, data.y, data.task, data.split, probe="linear", mode="as_published")
    search = GridSearchCV(logistic(), {"C": COSTS}, cv=5, scoring="roc_auc")
    model = make_pipeline(StandardScaler(), search).fit(*data.part("train"))
    assert ours.chosen == (search.best_params_["C"],)
    for name, value in (("valid", ours.valid), ("test", ours.test)):
        x, y = data.part(name)
        assert value == pytest.approx(roc_auc_score(y, model.decision_function(x)), abs=1e-9)


def test_regression_of_molecules_is_that_of_grid_search(embedded):
    data = embedded("ogbg-molesol")
    ours = probe_split(data.x, data.y, data.task, data.split, probe="linear", mode="as_published")
    unit_length = make_pipeline(StandardScaler(), _ByRoot(), Ridge(solver="svd"))
    search = GridSearchCV(unit_length, {"ridge__alpha": ALPHAS}, cv=5, scoring="neg_root_mean_squared_error")
    search.fit(*data.part("train"))
    assert ours.chosen == (search.best_params_["ridge__alpha"],)
    for name, value in (("valid", ours.valid), ("test", ours.test)):
        x, y = data.part(name)
        assert value == pytest.approx(root_mean_squared_error(y, search.predict(x)), rel=1e-6)


class _ByRoot(FunctionTransformer):
    """Divides by the root of the number of rows it was fitted to: columns of variance 1 get length 1."""

    def fit(self, x, y=None):
        self.root_ = np.sqrt(len(x))
        return super().fit(x, y)

    def transform(self, x):
        return x / self.root_
