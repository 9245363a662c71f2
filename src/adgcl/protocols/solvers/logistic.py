"""Logistic regression: min_w 1/2 |w|^2 + C sum_i log(1 + exp(-s_i f(x_i))), many at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import expit

from adgcl.protocols.solvers.arrays import Floats, Signs
from adgcl.protocols.solvers.newton import LinearModels, fit_path
from adgcl.protocols.solvers.scaling import Scaling


class LogLoss:
    """l(s, f) = log(1 + exp(-s f))."""

    penalise_intercept = False
    smooth = True
    tolerance = 1e-5  # of the last step; Newton's error after it is of the order of its square

    def value(self, signs: Floats, margins: Floats) -> Floats:
        agreement = signs * margins
        loss = np.log1p(np.exp(-np.abs(agreement)))
        loss -= np.minimum(agreement, 0.0)
        total: Floats = np.einsum("pn,pn->p", loss, np.abs(signs))
        return total

    def derivatives(self, signs: Floats, margins: Floats) -> tuple[Floats, Floats]:
        wrong = expit(-signs * margins)
        curvature = wrong * (1.0 - wrong)
        curvature *= np.abs(signs)
        wrong *= signs
        return np.negative(wrong, out=wrong), curvature


def fit_logistic(x: Floats, signs: Signs, costs: Sequence[float], scaling: Scaling | None = None) -> LinearModels:
    """Logistic models for all label vectors `signs [p, n]` (0: not in training) and all C of `costs`.

    Equal to scikit-learn's `LogisticRegression` at its optimum: the intercept is not penalised.
    """
    return fit_path(LogLoss(), x, signs, costs, scaling)
