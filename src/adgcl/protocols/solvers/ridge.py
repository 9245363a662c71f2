"""Ridge regression: min_w |y - X w - b|^2 + alpha |w|^2 for all alphas from one eigendecomposition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from adgcl.protocols.solvers.arrays import Floats


@dataclass(frozen=True)
class RidgeModels:
    """Fitted ridge models: `coef [a, t, d]`, `intercept [a, t]` for every alpha and every column of y."""

    coef: Floats
    intercept: Floats

    def predict(self, x: Floats, penalty: int) -> Floats:
        """X w + b `[n, t]` for one index of the alphas."""
        predicted: Floats = x @ self.coef[penalty].T
        predicted += self.intercept[penalty]
        return predicted


def fit_ridge(x: Floats, y: Floats, alphas: Sequence[float], *, normalise: bool = False) -> RidgeModels:
    """Ridge models of `y [n, t]` on `x [n, d]` for all alphas (> 0); the intercept is not penalised.

    With X^T X = V diag(e) V^T (columns centred), w = V diag(1 / (e + alpha)) V^T X^T y. `normalise` divides
    the centred columns by their Euclidean norm first, as `normalize=True` of scikit-learn before 1.2 did;
    this is ridge on standardised columns with the penalty n * alpha.
    """
    x_mean, y_mean = x.mean(0), y.mean(0)
    centred = x - x_mean
    norm = np.ones(x.shape[1])
    if normalise:
        norm = np.sqrt(np.square(centred).sum(0))
        # A constant column is only rounding error after centring: it must not be scaled to length 1.
        rounding = np.finfo(np.float64).eps * len(x) * np.abs(x_mean)
        norm[norm <= rounding] = 1.0
        centred /= norm
    # The smaller of the two Gram matrices: w = X^T (X X^T + alpha)^-1 y where there are more columns than rows.
    wide = x.shape[1] > len(x)
    target = y - y_mean
    eigenvalues, vectors = eigh(centred @ centred.T if wide else centred.T @ centred, driver="evd", check_finite=False)
    projected = vectors.T @ (target if wide else centred.T @ target)
    shrink = 1.0 / (np.maximum(eigenvalues, 0.0) + np.asarray(alphas, dtype=np.float64)[:, None])
    solved = vectors @ (shrink[:, :, None] * projected)
    coef = (centred.T @ solved if wide else solved) / norm[:, None]
    return RidgeModels(coef.transpose(0, 2, 1), y_mean - x_mean @ coef)
