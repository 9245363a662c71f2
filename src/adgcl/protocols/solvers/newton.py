"""Many regularised linear problems on the same samples, solved by Newton's method in column or row space."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from adgcl.protocols.solvers.arrays import Floats, Ints, Signs
from adgcl.protocols.solvers.gram import fits_product_table
from adgcl.protocols.solvers.path import Loss, Path
from adgcl.protocols.solvers.row_space import row_space
from adgcl.protocols.solvers.scaling import Scaling, fit_scaling, no_scaling

# Problems are solved in chunks: the margins of one chunk, and its Hessians, stay within these many numbers.
_CHUNK_MARGINS = 2**19
_CHUNK_HESSIANS = 2**23


@dataclass(frozen=True)
class LinearModels:
    """Fitted linear models for every penalty of the grid and every problem.

    `coef [g, p, d]` and `intercept [g, p]` belong to the features as `scaling` standardises them.
    """

    coef: Floats
    intercept: Floats
    scaling: Scaling

    def decision(self, x: Floats, penalty: int) -> Floats:
        """w^T (x - mean) / scale + b `[p, n]` for one index of the grid."""
        coef = np.concatenate([self.coef[penalty], self.intercept[penalty][:, None]], axis=1)
        shared = self.scaling.shared(coef)
        out: Floats = shared[:, :-1] @ x.T
        out += shared[:, -1:]
        return out


def fit_path(
    loss: Loss, x: Floats, signs: Signs, costs: Sequence[float], scaling: Scaling | None = None
) -> LinearModels:
    """min_w 1/2 |w|^2 + C sum_i l(s_pi, w^T (x_i - mean_p) / scale_p + b) for all problems p and all costs C.

    Each problem goes through the costs from small to large, starting each at the last optimum. A problem whose
    training part holds only one class gets the constant model of that class.
    """
    x = np.ascontiguousarray(x, dtype=np.float64)
    problems, columns = len(signs), x.shape[1]
    scaling = no_scaling(problems, columns) if scaling is None else scaling
    coef = np.zeros((len(costs), problems, columns + 1))
    two_classes = (signs > 0).any(1) & (signs < 0).any(1)
    coef[:, ~two_classes, -1] = np.sign(signs[~two_classes].sum(1, dtype=np.int64))
    left = np.flatnonzero(two_classes)
    for group in _wide_groups(x, signs, scaling, left):
        solved = _fit_in_row_space(loss, x, signs[group], costs, scaling[group[:1]])
        if solved is not None:
            coef[:, group] = solved
            left = np.setdiff1d(left, group)
    if len(left):
        coef[:, left] = _fit_in_columns(loss, x, signs[left], costs, scaling[left])
    return LinearModels(coef[..., :-1], coef[..., -1], scaling)


def _wide_groups(x: Floats, signs: Signs, scaling: Scaling, problems: Ints) -> Iterator[Ints]:
    """Those of the problems with more columns than samples, together where they share a scaling."""
    samples, columns = np.count_nonzero(signs[problems], axis=1), x.shape[1]
    if fits_product_table(len(x), columns + 1):
        return
    wide = problems[samples <= columns]
    for part in scaling[wide].alike():
        group = wide[part]
        if signs[group].any(0).sum() <= columns:
            yield group


def _fit_in_row_space(loss: Loss, x: Floats, signs: Signs, costs: Sequence[float], scaling: Scaling) -> Floats | None:
    """The optima `[g, p, d + 1]` of problems with one scaling and fewer samples than columns.

    None where the row space cannot be found to sufficient precision.
    """
    used = signs.any(0)
    space = row_space((x[used] - scaling.mean) / scaling.scale, costs)
    if space is None:
        return None
    rank = space.coordinates.shape[1]
    rows = np.hstack([space.coordinates, np.ones((len(space.coordinates), 1))])
    inside = _fit_in_chunks(loss, rows, signs[:, used], costs, no_scaling(len(signs), rank))
    return np.concatenate([space.lift(inside[..., :-1]), inside[..., -1:]], axis=-1)


def _fit_in_columns(loss: Loss, x: Floats, signs: Signs, costs: Sequence[float], scaling: Scaling) -> Floats:
    """The optima `[g, p, d + 1]` of problems that each have their own scaling."""
    used = signs.any(0)
    rows, inside = _well_scaled(x[used], scaling)
    return _fit_in_chunks(loss, rows, signs[:, used], costs, inside)


def _fit_in_chunks(loss: Loss, rows: Floats, signs: Signs, costs: Sequence[float], scaling: Scaling) -> Floats:
    coef = np.empty((len(costs), len(signs), rows.shape[1]))
    for chunk in _chunks(len(signs), *rows.shape):
        coef[:, chunk] = Path(loss, rows, signs[chunk].astype(np.float64), scaling[chunk]).walk(costs)
    return coef


def _well_scaled(x: Floats, scaling: Scaling) -> tuple[Floats, Scaling]:
    """Rows [z, 1] with z = (x - m) / s standardised, and the same scalings of the problems in terms of z.

    The problems stay the same, but their Gram matrices lose no digits to large means or mixed units.
    """
    overall = fit_scaling(x, np.ones((1, len(x)), dtype=bool))
    z = (x - overall.mean) / overall.scale
    inside = Scaling((scaling.mean - overall.mean) / overall.scale, scaling.scale / overall.scale)
    return np.hstack([z, np.ones((len(x), 1))]), inside


def _chunks(problems: int, samples: int, width: int) -> Iterator[slice]:
    size = max(1, min(_CHUNK_MARGINS // max(samples, 1), _CHUNK_HESSIANS // width**2))
    for first in range(0, problems, size):
        yield slice(first, first + size)
