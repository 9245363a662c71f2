"""Linear support vector machines: min_w 1/2 |w|^2 + C sum_i max(0, 1 - s_i f(x_i))^2, many at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from adgcl.protocols.solvers.arrays import Floats, Ints, Mask, Signs
from adgcl.protocols.solvers.newton import LinearModels, fit_path
from adgcl.protocols.solvers.scaling import Scaling


class SquaredHinge:
    """l(s, f) = max(0, 1 - s f)^2. Newton ends after finitely many steps: the loss is piecewise quadratic."""

    penalise_intercept = True  # liblinear's convention: the intercept is the weight of a constant feature
    smooth = False
    tolerance = 1e-6

    def value(self, signs: Floats, margins: Floats) -> Floats:
        slack = _slack(signs, margins)
        total: Floats = np.einsum("pn,pn->p", slack, slack)
        return total

    def derivatives(self, signs: Floats, margins: Floats) -> tuple[Floats, Floats]:
        slack = _slack(signs, margins)
        curvature = np.where(slack > 0, 2.0, 0.0)
        slack *= signs
        slack *= -2.0
        return slack, curvature


def _slack(signs: Floats, margins: Floats) -> Floats:
    """max(0, 1 - s f), and 0 where s = 0."""
    slack = signs * margins
    np.subtract(np.abs(signs), slack, out=slack)
    return np.maximum(slack, 0.0, out=slack)


def fit_linear_svc(x: Floats, signs: Signs, costs: Sequence[float], scaling: Scaling | None = None) -> LinearModels:
    """Support vector machines for all label vectors `signs [p, n]` (0: not in training) and all C of `costs`.

    Equal to scikit-learn's `LinearSVC(dual=False)` at its optimum.
    """
    return fit_path(SquaredHinge(), x, signs, costs, scaling)


def one_vs_rest(labels: Ints, train: Mask, num_classes: int) -> Signs:
    """Label vectors `[m * k, n]` for class numbers `labels [n]` and training parts `train [m, n]`.

    Two classes need one problem (k = 1, positive for class 1), more classes one problem each.
    """
    classes = np.arange(1, 2) if num_classes == 2 else np.arange(num_classes)
    signs = np.where(labels == classes[:, None], 1, -1).astype(np.int8)
    return (train[:, None, :] * signs).reshape(-1, len(labels))


def predict_classes(decision: Floats, labels: Ints, train: Mask, num_classes: int) -> Ints:
    """Class numbers `[m, n]` from decisions `[m * k, n]`; a class absent in training is never chosen."""
    if num_classes == 2:
        return (decision > 0).astype(np.intp)
    scores = decision.reshape(len(train), num_classes, -1)
    present = np.stack([train[:, labels == c].any(1) for c in range(num_classes)], axis=1)
    best: Ints = np.where(present[:, :, None], scores, -np.inf).argmax(1)
    return best
