"""Embeddings that look like those of graph networks, and exact scikit-learn models to compare with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

Floats = NDArray[np.float64]

COSTS = [10.0**e for e in range(-3, 4)]
ALPHAS = [10.0**e for e in range(-5, 6)]


def embeddings(n: int, d: int = 12, seed: int = 0) -> tuple[Floats, Floats]:
    """Correlated, heavy-tailed features on scales from 0.01 to 100, and a signal that they explain in part."""
    random = np.random.default_rng(seed)
    latent = random.normal(size=(n, 8))
    stats = np.exp(0.8 * latent) @ random.normal(size=(8, d))
    x = np.maximum(stats, 0.1 * stats) + 0.1 * random.normal(size=(n, d))
    signal = latent[:, 0] + 0.5 * latent[:, 1] * latent[:, 2] + 0.5 * random.normal(size=n)
    return x * np.logspace(-2, 2, d), signal


def classes(signal: Floats, edges: list[float]) -> Floats:
    """Class numbers: between which edges the signal lies."""
    return np.digitize(signal, edges).astype(float)


def random_split(n: int, seed: int = 0) -> dict[str, NDArray[np.intp]]:
    """Random ids: 70 % train, 15 % valid, 15 % test."""
    order = np.random.default_rng(seed).permutation(n)
    first, second = int(0.7 * n), int(0.85 * n)
    return {"train": order[:first], "valid": order[first:second], "test": order[second:]}


def linear_svc(cost: float = 1.0) -> LinearSVC:
    """scikit-learn's support vector machine, run until it cannot get better."""
    return LinearSVC(dual=False, C=cost, tol=1e-10, max_iter=200_000)


def logistic(cost: float = 1.0) -> LogisticRegression:
    """scikit-learn's logistic regression, run until it cannot get better."""
    return LogisticRegression(C=cost, tol=1e-12, max_iter=1000, solver="newton-cholesky")
