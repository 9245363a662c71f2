"""Damped Newton for many regularised linear problems that share their samples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from adgcl.protocols.solvers.arrays import Floats, Ints, Mask, Signs
from adgcl.protocols.solvers.directions import Batch, choose_directions
from adgcl.protocols.solvers.scaling import Scaling, fit_scaling, no_scaling

_MAX_STEPS = 200
_MAX_TRIALS = 30
_SHORTEST_STEP = 1e-9
# Problems are solved in chunks: the margins of one chunk, and its Hessians, stay within these many numbers.
_CHUNK_MARGINS = 2**19
_CHUNK_HESSIANS = 2**23


class Loss(Protocol):
    """A convex loss l(s, f) of a label s in {+1, -1, 0} and a margin f; it is zero for s = 0."""

    penalise_intercept: bool
    tolerance: float

    def value(self, signs: Floats, margins: Floats) -> Floats:
        """sum_i l(s_pi, f_pi) `[p]`."""

    def derivatives(self, signs: Floats, margins: Floats) -> tuple[Floats, Floats]:
        """First and second derivative of l with respect to f, `[p, n]` each."""


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

    Each problem walks up the costs from small to large and starts where the last one ended. A problem whose
    training part holds one class only gets the constant model of that class.
    """
    x = np.ascontiguousarray(x, dtype=np.float64)
    problems, width = len(signs), x.shape[1] + 1
    scaling = no_scaling(problems, x.shape[1]) if scaling is None else scaling
    used = signs.any(0)
    rows, inside = _well_scaled(x[used], scaling)
    coef = np.zeros((len(costs), problems, width))
    two_classes = (signs > 0).any(1) & (signs < 0).any(1)
    coef[:, ~two_classes, -1] = np.sign(signs[~two_classes].sum(1, dtype=np.int64))
    for chunk in _chunks(np.flatnonzero(two_classes), len(rows), width):
        chunk_signs = signs[np.ix_(chunk, used)].astype(np.float64)
        coef[:, chunk] = _Path(loss, rows, chunk_signs, inside[chunk]).walk(costs)
    return LinearModels(coef[..., :-1], coef[..., -1], scaling)


def _well_scaled(x: Floats, scaling: Scaling) -> tuple[Floats, Scaling]:
    """Rows [z, 1] with z = (x - m) / s standardised, and the same scalings of the problems in terms of z.

    The problems stay what they are; their Gram matrices lose no digits to large means or mixed units.
    """
    overall = fit_scaling(x, np.ones((1, len(x)), dtype=bool))
    z = (x - overall.mean) / overall.scale
    inside = Scaling((scaling.mean - overall.mean) / overall.scale, scaling.scale / overall.scale)
    return np.hstack([z, np.ones((len(x), 1))]), inside


def _chunks(problems: Ints, samples: int, width: int) -> Iterator[Ints]:
    size = max(1, min(_CHUNK_MARGINS // max(samples, 1), _CHUNK_HESSIANS // width**2))
    for first in range(0, len(problems), size):
        yield problems[first : first + size]


class _Path:
    """The problems of one chunk, solved for one cost after the other."""

    def __init__(self, loss: Loss, rows: Floats, signs: Floats, scaling: Scaling) -> None:
        self._loss = loss
        self._rows = rows
        self._signs = signs
        self._scaling = scaling
        self._ridge = np.ones(rows.shape[1])
        self._ridge[-1] = float(loss.penalise_intercept)
        self._directions = choose_directions(rows, self._ridge, len(signs))

    def walk(self, costs: Sequence[float]) -> Floats:
        """The optima `[g, p, d + 1]`."""
        path = np.empty((len(costs), len(self._signs), self._rows.shape[1]))
        coef = np.zeros_like(path[0])
        for g in np.argsort(costs, kind="stable"):
            coef = self._solve(float(costs[g]), coef)
            path[g] = coef
        return path

    def _solve(self, cost: float, start: Floats) -> Floats:
        solved = start.copy()
        index = np.arange(len(start))
        margins = self._scaling.shared(start) @ self._rows.T
        costs = np.full(len(start), cost)
        batch = Batch(index, self._signs, costs, self._scaling, start, margins)
        for _ in range(_MAX_STEPS):
            batch = self._step(batch, solved)
            if not len(batch.index):
                break
        return solved

    def _step(self, batch: Batch, solved: Floats) -> Batch:
        """One Newton step of every open problem; writes to `solved` and returns the problems still open."""
        slope, curvature = self._loss.derivatives(batch.signs, batch.margins)
        gradient = self._ridge * batch.coef
        gradient += batch.cost[:, None] * batch.scaling.pull_back(slope @ self._rows)
        scale = self._loss.tolerance**2 * (np.square(batch.coef).sum(1) + 1e-12)
        if self._loss.penalise_intercept:  # the Hessian is at least 1: |gradient| bounds the distance
            far = np.square(gradient).sum(1) > scale
            if not far.all():
                batch, gradient, curvature, scale = batch.keep(far), gradient[far], curvature[far], scale[far]
            if not far.any():
                return batch
        direction = self._directions(batch, gradient, curvature)
        descent = -(gradient * direction).sum(1)
        along = batch.scaling.shared(direction) @ self._rows.T
        length = self._line_search(batch, direction, along, descent)
        along *= length[:, None]
        along += batch.margins
        batch = replace(batch, coef=batch.coef + length[:, None] * direction, margins=along)
        solved[batch.index] = batch.coef
        return batch.keep((descent > scale) & (length > _SHORTEST_STEP))

    def _line_search(self, batch: Batch, direction: Floats, along: Floats, descent: Floats) -> Floats:
        """Step lengths: 1 where that descends enough, elsewhere the minimum along the direction."""
        before = self._loss.value(batch.signs, batch.margins)
        after = self._loss.value(batch.signs, batch.margins + along)
        ridge_slope = (self._ridge * batch.coef * direction).sum(1)
        ridge_curvature = (self._ridge * direction * direction).sum(1)
        change = ridge_slope + 0.5 * ridge_curvature + batch.cost * (after - before)
        rounding = 1e-14 * batch.cost * before
        long = ~(change <= rounding - 1e-4 * descent)
        length = np.ones(len(descent))
        if long.any():
            length[long] = self._minimum_along(batch.keep(long), along[long], ridge_slope[long], ridge_curvature[long])
        return length

    def _minimum_along(self, batch: Batch, along: Floats, slope: Floats, curvature: Floats) -> Floats:
        """The t in (0, 1] where the slope along the direction vanishes: Newton inside a shrinking bracket."""
        low, high = np.zeros(len(slope)), np.ones(len(slope))
        t = np.ones(len(slope))
        for _ in range(_MAX_TRIALS):
            first, second = self._loss.derivatives(batch.signs, batch.margins + t[:, None] * along)
            first_t = slope + t * curvature + batch.cost * np.einsum("pn,pn->p", first, along)
            second_t = curvature + batch.cost * np.einsum("pn,pn,pn->p", second, along, along)
            uphill: Mask = first_t > 0
            low, high = np.where(uphill, low, t), np.where(uphill, t, high)
            new = t - first_t / np.maximum(second_t, 1e-300)
            new = np.where((new > low) & (new < high), new, 0.5 * (low + high))
            moved = np.abs(new - t)
            t = new
            if np.all(moved <= 1e-3 * t):
                break
        return t
