"""The solvers reach scikit-learn's optimum, for many problems at once and on unpleasant data."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.preprocessing import StandardScaler

from adgcl.protocols.solvers import (
    Scaling,
    fit_linear_svc,
    fit_logistic,
    fit_ridge,
    fit_scaling,
    newton,
    no_scaling,
    one_vs_rest,
    predict_classes,
)
from adgcl.protocols.solvers.gram import ProductTable, weighted_gram
from tests.embedding_cases import COSTS, embeddings, linear_svc, logistic

WIDE = 80  # beyond the width up to which Hessians are tabulated


def training_parts(n, m=3, seed=0):
    return np.random.default_rng(seed).random((m, n)) < 0.7


def reference(kind, x, signs, cost):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return (linear_svc if kind == "svc" else logistic)(cost).fit(x, signs)


def assert_same_optimum(kind, models, x, signs, g, p, rel=1e-4):
    used = signs[p] != 0
    scaled = (x - models.scaling.mean[p]) / models.scaling.scale[p]
    model = reference(kind, scaled[used], signs[p][used], COSTS[g])
    size = np.abs(model.coef_).max()
    assert np.abs(models.coef[g, p] - model.coef_[0]).max() <= rel * size
    assert abs(models.intercept[g, p] - model.intercept_[0]) <= rel * max(size, abs(model.intercept_[0]))
    decision = models.decision(x, g)[p]
    assert np.allclose(decision, model.decision_function(scaled), atol=1e-4 * np.abs(decision).max())
    clear = np.abs(decision) > 1e-6
    assert ((decision > 0) == (model.predict(scaled) > 0))[clear].all()


FITS = {"svc": fit_linear_svc, "logistic": fit_logistic}


@pytest.mark.parametrize("kind", ["svc", "logistic"])
@pytest.mark.parametrize("n,d", [(120, 16), (400, 32), (300, WIDE)])
def test_equals_sklearn(kind, n, d):
    x, signal = embeddings(n, d)
    train = training_parts(n)
    signs = one_vs_rest((signal > 0.2).astype(int), train, 2)
    models = FITS[kind](x, signs, COSTS, fit_scaling(x, train))
    for g in (0, 2, 4) if d == WIDE else (0, 2, 4, 6):  # liblinear is slow on wide data with a large C
        for p in range(len(train)):
            assert_same_optimum(kind, models, x, signs, g, p)


def test_three_classes_equal_sklearn():
    x, signal = embeddings(300, 32, seed=1)
    labels = np.digitize(signal, [-0.5, 0.8])
    train = training_parts(300)
    train[0, labels == 2] = False  # a training part without one of the classes
    scaling = fit_scaling(x, train)
    signs = one_vs_rest(labels, train, 3)
    models = fit_linear_svc(x, signs, COSTS, scaling[np.repeat(np.arange(3), 3)])
    for g, cost in enumerate(COSTS):
        ours = predict_classes(models.decision(x, g), labels, train, 3)
        for part, predicted, mean, scale in zip(train, ours, scaling.mean, scaling.scale, strict=True):
            scaled = (x - mean) / scale
            assert (predicted == reference("svc", scaled[part], labels[part], cost).predict(scaled)).all()


@pytest.mark.parametrize("kind", ["svc", "logistic"])
def test_unscaled_features(kind):
    x, signal = embeddings(150, 8)
    signs = one_vs_rest((signal > 0).astype(int), np.ones((1, 150), dtype=bool), 2)
    x = x / np.abs(x).max()
    models = FITS[kind](x, signs, COSTS)
    for g in (0, 3, 6):
        assert_same_optimum(kind, models, x, signs, g, 0)


def unpleasant(name):
    """Data sets that break solvers: (features, labels)."""
    x, signal = embeddings(90, 12, seed=3)
    labels = (signal > 0).astype(int)
    if name == "constant and repeated columns":
        x = np.hstack([x, np.full((90, 2), 7.3), np.zeros((90, 1)), x[:, :3], x[:, :3] * 2 + 1])
    elif name == "more columns than graphs":
        x = np.random.default_rng(0).normal(size=(90, 120))
    elif name == "separable":
        x[:, 0] = np.where(labels == 1, 3.0, -3.0) + 0.1 * x[:, 1] / x[:, 1].std()
    elif name == "huge outlier":
        x[0, 4] = 1e9
    elif name == "huge outlier outside the training part":
        x[-1, 4] = 1e9
    elif name == "column constant in the training part only":
        x[:-20, 4] = 0.3
        x[-20:, 4] = 1e6 * np.arange(20)
    elif name == "huge offset":
        x = x + 1e7
    elif name == "two graphs of one class":
        labels = np.zeros(90, dtype=int)
        labels[:2] = 1
    elif name == "identical graphs":
        x = np.repeat(x[:9], 10, axis=0)
    return x, labels


UNPLEASANT = [
    "constant and repeated columns",
    "more columns than graphs",
    "separable",
    "huge outlier",
    "huge outlier outside the training part",
    "column constant in the training part only",
    "huge offset",
    "two graphs of one class",
    "identical graphs",
]


@pytest.mark.parametrize("kind", ["svc", "logistic"])
@pytest.mark.parametrize("name", UNPLEASANT)
def test_unpleasant_data(kind, name):
    x, labels = unpleasant(name)
    train = np.ones((1, len(x)), dtype=bool)
    train[0, -20:] = False
    signs = one_vs_rest(labels, train, 2)
    models = FITS[kind](x, signs, COSTS, fit_scaling(x, train))
    # liblinear needs 100,000 steps for C = 1000 on wide data and still stops early; see the next test for it.
    for g in (0, 3) if name == "more columns than graphs" else (0, 3, 6):
        assert_same_optimum(kind, models, x, signs, g, 0)


@pytest.mark.parametrize("kind", ["svc", "logistic"])
@pytest.mark.parametrize("n,d", [(250, 16), (250, WIDE), (60, WIDE)])
def test_gradient_vanishes(kind, n, d):
    """The optimality condition itself, on data so ill-conditioned that no other solver is a witness."""
    x, signal = embeddings(n, d, seed=5)
    x = np.hstack([x, x @ np.random.default_rng(0).normal(size=(d, 4))])
    train = np.ones((1, n), dtype=bool)
    signs = one_vs_rest((signal > 0).astype(int), train, 2)
    models = FITS[kind](x, signs, COSTS, fit_scaling(x, train))
    scaled = StandardScaler().fit_transform(x)
    for g, cost in enumerate(COSTS):
        agreement = signs[0] * (scaled @ models.coef[g, 0] + models.intercept[g, 0])
        pull = 2 * np.maximum(0, 1 - agreement) if kind == "svc" else 1 / (1 + np.exp(agreement))
        penalty = models.coef[g, 0]
        size = np.linalg.norm(penalty)
        assert np.linalg.norm(penalty - cost * (signs[0] * pull) @ scaled) < 1e-4 * size
        offset = models.intercept[g, 0] if kind == "svc" else 0.0
        assert abs(offset - cost * (signs[0] * pull).sum()) < 1e-4 * size


@pytest.mark.parametrize("kind", ["svc", "logistic"])
def test_one_class_gives_the_constant_of_that_class(kind):
    x, _ = embeddings(40, 5)
    signs = np.zeros((4, 40), dtype=np.int8)
    signs[0, :20] = 1
    signs[1, :20] = -1
    signs[3, :10], signs[3, 10:20] = 1, -1
    models = FITS[kind](x, signs, COSTS)
    for g in range(len(COSTS)):
        decision = models.decision(x, g)
        assert (decision[0] > 0).all() and (decision[1] < 0).all() and (decision[2] == 0).all()
        assert np.ptp(decision[3]) > 0


def test_a_single_class_is_predicted_everywhere():
    labels = np.array([2, 2, 2, 0, 1])
    train = np.array([[True, True, True, False, False]])
    x = np.random.default_rng(0).normal(size=(5, 2))
    models = fit_linear_svc(x, one_vs_rest(labels, train, 3), [1.0])
    assert (predict_classes(models.decision(x, 0), labels, train, 3) == 2).all()


@pytest.mark.parametrize("d", [12, WIDE])
def test_chunks_do_not_matter(d, monkeypatch):
    x, signal = embeddings(100, d)
    train = training_parts(100, m=7)
    signs = one_vs_rest((signal > 0).astype(int), train, 2)
    together = fit_logistic(x, signs, COSTS, fit_scaling(x, train))
    monkeypatch.setattr(newton, "_CHUNK_MARGINS", 250)
    apart = fit_logistic(x, signs, COSTS, fit_scaling(x, train))
    assert np.allclose(together.coef, apart.coef, rtol=1e-5, atol=1e-7 * np.abs(together.coef).max())


def test_order_of_costs_columns_and_problems_does_not_matter():
    x, signal = embeddings(150, 10)
    train = training_parts(150)
    signs = one_vs_rest((signal > 0).astype(int), train, 2)
    models = fit_linear_svc(x, signs, COSTS, fit_scaling(x, train))
    columns = np.random.default_rng(0).permutation(10)
    turned = fit_linear_svc(x[:, columns], signs[::-1], COSTS[::-1], fit_scaling(x[:, columns], train[::-1]))
    assert np.allclose(turned.coef, models.coef[::-1, ::-1][:, :, columns], atol=1e-5 * np.abs(models.coef).max())


def test_scaling_equals_standard_scaler():
    x, _ = embeddings(80, 6)
    x[:, 1] = 5.1  # constant
    x[:, 2] = 1e8 + x[:, 2] / np.abs(x[:, 2]).max()  # small spread beside a large mean
    train = training_parts(80)
    x[train[0], 3] = -2.0  # constant in one training part only
    scaling = fit_scaling(x, train)
    for part, mean, scale in zip(train, scaling.mean, scaling.scale, strict=True):
        scaler = StandardScaler().fit(x[part])
        expected = scaler.scale_.copy()
        if np.array_equal(part, train[0]):
            expected[3] = x[:, 3].std()  # any scale would do
        assert np.allclose(mean, scaler.mean_, rtol=1e-12)
        assert np.allclose(scale, expected, rtol=1e-6)


def test_gram_matrices_and_their_scaling():
    random = np.random.default_rng(0)
    rows = np.hstack([random.normal(size=(30, 6)), np.ones((30, 1))])
    weights = random.random((4, 30)) * (random.random((4, 30)) < 0.6)
    expected = np.einsum("pn,ni,nj->pij", weights, rows, rows)
    assert np.allclose(ProductTable(rows).grams(weights), expected)
    assert np.allclose([weighted_gram(rows, w) for w in weights], expected)
    scaling = Scaling(random.normal(size=(4, 6)), random.random((4, 6)) + 0.5)
    standardised = rows - np.pad(scaling.mean, ((0, 0), (0, 1)))[:, None]
    standardised /= np.pad(scaling.scale, ((0, 0), (0, 1)), constant_values=1.0)[:, None]
    pulled = np.einsum("pn,pni,pnj->pij", weights, standardised, standardised)
    assert np.allclose(scaling.pull_back_gram(expected), pulled)
    assert np.allclose(no_scaling(4, 6).pull_back_gram(expected), expected)


@pytest.mark.parametrize("n,d", [(120, 20), (30, 50)])
@pytest.mark.parametrize("normalise", [False, True])
def test_ridge_equals_sklearn(n, d, normalise):
    x, signal = embeddings(n, d)
    x[:, 3] = 4.2
    y = np.stack([signal, 100 * signal**2 + 7], axis=1)
    alphas = [10.0**e for e in range(-5, 6)] if normalise else [0.1, 1.0, 1e3, 1e5]
    models = fit_ridge(x, y, alphas, normalise=normalise)
    norm = np.ones(d)
    if normalise:  # what `normalize=True` did: centred columns of Euclidean length 1
        norm = np.linalg.norm(x - x.mean(0), axis=0)
        norm[3] = 1.0
    for g, alpha in enumerate(alphas):
        model = Ridge(alpha=alpha, solver="svd").fit(x / norm, y)
        expected = model.coef_ / norm
        assert np.allclose(models.coef[g] * norm, model.coef_, rtol=1e-4, atol=1e-6 * np.abs(model.coef_).max())
        assert np.allclose(models.coef[g], expected, rtol=1e-3, atol=1e-6 * np.abs(expected).max())
        assert np.allclose(models.predict(x, g), model.predict(x / norm), rtol=1e-5, atol=1e-6 * y.std())


def test_normalised_ridge_is_standardised_ridge_with_penalty_times_n():
    x, signal = embeddings(70, 9)
    models = fit_ridge(x, signal[:, None], [0.01], normalise=True)
    scaled = StandardScaler().fit_transform(x)
    model = Ridge(alpha=0.01 * 70).fit(scaled, signal)
    assert np.allclose(models.predict(x, 0)[:, 0], model.predict(scaled), rtol=1e-6)
