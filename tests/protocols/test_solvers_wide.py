"""With more columns than samples the solvers reach the same optimum, on fingerprints of real molecules too."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from adgcl.protocols.solvers import Scaling, fit_linear_svc, fit_logistic, fit_ridge, fit_scaling, newton, no_scaling
from adgcl.protocols.solvers.batch import Batch
from adgcl.protocols.solvers.row_space import row_space
from adgcl.protocols.solvers.sample_directions import SampleDirections
from tests.embedding_cases import ALPHAS, COSTS
from tests.fingerprint_cases import bace_fingerprints

pytestmark = pytest.mark.filterwarnings("ignore")

FITS = {"svc": fit_linear_svc, "logistic": fit_logistic}


@pytest.fixture(scope="module")
def bace(data_dir):
    return bace_fingerprints(data_dir, 300)


@pytest.fixture(scope="module")
def random_rows():
    """Correlated normal columns `[300, 2048]` on many scales, and a noisy direction."""
    random = np.random.default_rng(1)
    x = random.normal(size=(300, 40)) @ random.normal(size=(40, 2048)) + random.normal(size=(300, 2048))
    y = (x[:, :5].sum(1) + 5 * random.normal(size=300) > 0).astype(float)
    return x * np.logspace(-2, 2, 2048) + 3.0, y


@pytest.fixture(params=["bace", "random_rows"])
def wide(request):
    return request.getfixturevalue(request.param)


def training_parts(n, m=3):
    return np.random.default_rng(2).random((m, n)) < 0.7


def signs_of(y, train):
    return (train * np.where(y > 0, 1, -1)).astype(np.int8)


def distance_from_optimum(kind, models, x, signs, g, p):
    """The gradient of problem p beside |w|, from scratch; for a penalised intercept it bounds the error of (w, b)."""
    z = (x - models.scaling.mean[p]) / models.scaling.scale[p]
    w, b, s = models.coef[g, p], models.intercept[g, p], signs[p]
    agreement = s * (z @ w + b)
    pull = 2 * np.maximum(0, 1 - agreement) if kind == "svc" else 1 / (1 + np.exp(agreement))
    offset = b if kind == "svc" else 0.0
    gradient = np.append(w - COSTS[g] * (s * pull) @ z, offset - COSTS[g] * (s * pull).sum())
    return np.linalg.norm(gradient) / np.linalg.norm(w)


@pytest.mark.parametrize("kind", ["svc", "logistic"])
@pytest.mark.parametrize("shared_scaling", [True, False])
def test_the_gradient_vanishes_in_all_columns(kind, shared_scaling, wide):
    x, y = wide
    train = training_parts(len(x))
    scale_on = np.broadcast_to(train.any(0), train.shape) if shared_scaling else train
    signs = signs_of(y, train)
    models = FITS[kind](x, signs, COSTS, fit_scaling(x, scale_on))
    for g, p in np.ndindex(len(COSTS), len(train)):
        assert distance_from_optimum(kind, models, x, signs, g, p) < 2e-6


# For larger C liblinear runs out of patience; there the gradient above is the witness.
@pytest.mark.parametrize("g", [0, 1, 2])
def test_equals_linear_svc(g, wide):
    x, y = wide
    train = training_parts(len(x), m=2)
    models = fit_linear_svc(x, signs_of(y, train), COSTS, fit_scaling(x, train))
    for p, part in enumerate(train):
        z = StandardScaler().fit(x[part]).transform(x)
        reference = LinearSVC(dual=False, C=COSTS[g], tol=1e-8, max_iter=20_000).fit(z[part], y[part])
        assert_close(models.coef[g, p], reference.coef_[0], 2e-6)
        assert models.intercept[g, p] == pytest.approx(reference.intercept_[0], abs=1e-6)
        assert_close(models.decision(x, g)[p], reference.decision_function(z), 2e-6)


@pytest.mark.parametrize("g", range(len(COSTS)))
def test_equals_logistic_regression(g, wide):
    x, y = wide
    train = training_parts(len(x), m=2)
    models = fit_logistic(x, signs_of(y, train), COSTS, fit_scaling(x, train))
    for p, part in enumerate(train):
        z = StandardScaler().fit(x[part]).transform(x)
        reference = LogisticRegression(C=COSTS[g], tol=1e-9, max_iter=1000, solver="newton-cg").fit(z[part], y[part])
        # With a large C the optimum is so flat that scikit-learn stops a little before it; the gradient is the witness.
        tolerance = 2e-4 if COSTS[g] > 100 else 3e-5
        assert_close(models.coef[g, p], reference.coef_[0], tolerance)
        assert_close(models.decision(x, g)[p], reference.decision_function(z), tolerance)


def test_ridge_equals_sklearn(wide):
    x, y = wide
    part = training_parts(len(x), m=1)[0]
    target = np.stack([x @ np.random.default_rng(0).normal(size=x.shape[1]), y], axis=1)
    models = fit_ridge(x[part], target[part], ALPHAS, normalise=True)
    z = StandardScaler().fit(x[part]).transform(x)
    for g, alpha in enumerate(ALPHAS):
        # Columns of length 1 instead of variance 1 are the same with n times the penalty.
        reference = Ridge(alpha=alpha * part.sum(), solver="svd").fit(z[part], target[part])
        assert_close(models.predict(x, g), reference.predict(z), 1e-7)


def assert_close(ours, theirs, tolerance):
    assert np.abs(ours - theirs).max() <= tolerance * np.abs(theirs).max()


@pytest.mark.parametrize("kind", ["svc", "logistic"])
def test_the_way_by_columns_finds_the_same(kind, monkeypatch):
    random = np.random.default_rng(3)
    x = random.normal(size=(110, 130))
    x[20:30] = x[10:20]  # identical graphs: the row space has fewer dimensions than rows
    tasks = random.choice([-1, 0, 1], p=[0.3, 0.3, 0.4], size=(4, 110)).astype(np.int8)
    tasks[3] = 1  # one class only
    scaling = fit_scaling(x, np.ones((4, 110), dtype=bool))
    by_rows = FITS[kind](x, tasks, COSTS, scaling)
    monkeypatch.setattr(newton, "_wide_groups", lambda *_: iter(()))
    by_columns = FITS[kind](x, tasks, COSTS, scaling)
    for rows, columns in zip(by_rows.coef, by_columns.coef, strict=True):
        assert_close(rows, columns, 1e-5)
    assert np.allclose(by_rows.intercept, by_columns.intercept, rtol=1e-4, atol=1e-6)


def test_coarse_gram_matrices_are_not_used():
    """Without standardising, a large offset leaves too few digits for the rest."""
    random = np.random.default_rng(4)
    x = random.normal(size=(60, 90)) + 1e3
    assert row_space(x, [10.0]) is None and row_space(x - 1e3, [10.0]) is not None
    signs = np.where(x[:, :3].sum(1) > 3e3, 1, -1)[None].astype(np.int8)
    models = fit_logistic(x, signs, [10.0])
    reference = fit_logistic(x - 1e3, signs, [10.0])
    assert np.allclose(models.decision(x, 0), reference.decision(x - 1e3, 0), atol=1e-5)


def test_row_space_keeps_products_and_norms():
    random = np.random.default_rng(5)
    x = random.normal(size=(30, 100))
    x[7], x[9] = x[3], x[1] + 2 * x[2]
    space = row_space(x, COSTS)
    assert space.coordinates.shape == (30, 28)
    assert np.allclose(space.coordinates @ space.coordinates.T, x @ x.T)
    inside = random.normal(size=(2, 3, 28))
    lifted = space.lift(inside)
    assert np.allclose(lifted @ x.T, inside @ space.coordinates.T)
    assert np.allclose(np.linalg.norm(lifted, axis=-1), np.linalg.norm(inside, axis=-1))


def test_row_space_of_rows_without_length():
    space = row_space(np.zeros((4, 6)), COSTS)
    assert space.coordinates.shape[0] == 4 and not space.coordinates.any()
    assert not space.lift(np.ones((2, space.coordinates.shape[1]))).any()


@pytest.mark.parametrize("penalise_intercept", [True, False])
@pytest.mark.parametrize("cost", [0.1, 1e6])  # the second is beyond single precision
def test_sample_directions_solve_the_newton_system(penalise_intercept, cost):
    random = np.random.default_rng(6)
    rows = np.hstack([random.normal(size=(40, 60)) * np.logspace(0, -3, 60), np.ones((40, 1))])
    rows[5] = rows[6]
    ridge = np.ones(61)
    ridge[-1] = float(penalise_intercept)
    gradient = random.normal(size=(2, 61))
    curvature = random.random((2, 40)) * (random.random((2, 40)) < 0.8)
    index = np.array([2, 0])
    batch = Batch(index, curvature, np.full(2, cost), no_scaling(2, 60), gradient, curvature)
    directions = SampleDirections(rows, ridge, 3)(batch, gradient, curvature)
    for i in range(2):
        hessian = np.diag(ridge) + cost * (rows.T * curvature[i]) @ rows
        assert np.linalg.norm(hessian @ directions[i] + gradient[i]) <= 1.01e-3 * np.linalg.norm(gradient[i])


def test_sample_directions_without_curvature_go_down_the_gradient():
    rows = np.hstack([np.random.default_rng(0).normal(size=(3, 5)), np.ones((3, 1))])
    ridge = np.array([1.0, 1, 1, 1, 1, 0])
    gradient, curvature = np.ones((1, 6)), np.zeros((1, 3))
    batch = Batch(np.array([0]), curvature, np.ones(1), no_scaling(1, 5), gradient, curvature)
    assert (SampleDirections(rows, ridge, 1)(batch, gradient, curvature) == [[-1, -1, -1, -1, -1, 0]]).all()


def test_problems_with_the_same_scaling_are_found():
    mean = np.array([[0.0, 1], [2, 3], [0, 1], [0, 1], [2, 3]])
    scale = np.array([[1.0, 1], [1, 1], [1, 1], [1, 2], [1, 1]])
    assert [group.tolist() for group in Scaling(mean, scale).alike()] == [[0, 2], [1, 4], [3]]
    assert no_scaling(2, 3).is_identity and not Scaling(mean, scale).is_identity
