"""Damped Newton for problems that share their samples, along a path of costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np

from adgcl.protocols.solvers.arrays import Floats, Mask
from adgcl.protocols.solvers.batch import Batch
from adgcl.protocols.solvers.directions import choose_directions
from adgcl.protocols.solvers.scaling import Scaling

_MAX_STEPS = 200
_MAX_TRIALS = 30
_SHORTEST_STEP = 1e-9


class Loss(Protocol):
    """A convex loss l(s, f) of a label s in {+1, -1, 0} and a margin f; it is zero for s = 0."""

    penalise_intercept: bool
    smooth: bool  # whether the optimum is a smooth function of C
    tolerance: float

    def value(self, signs: Floats, margins: Floats) -> Floats:
        """sum_i l(s_pi, f_pi) `[p]`."""

    def derivatives(self, signs: Floats, margins: Floats) -> tuple[Floats, Floats]:
        """First and second derivative of l with respect to f, `[p, n]` each."""


class Path:
    """The problems of one chunk, solved for one cost after the other."""

    def __init__(self, loss: Loss, rows: Floats, signs: Floats, scaling: Scaling) -> None:
        self._loss = loss
        self._rows = rows
        self._signs = signs
        self._scaling = scaling
        self._ridge = np.ones(rows.shape[1])
        self._ridge[-1] = float(loss.penalise_intercept)
        self._directions = choose_directions(rows, self._ridge, scaling)

    def walk(self, costs: Sequence[float]) -> Floats:
        """The optima `[g, p, d + 1]`."""
        optima = np.empty((len(costs), len(self._signs), self._rows.shape[1]))
        solved: list[tuple[float, Floats]] = []
        for g in np.argsort(costs, kind="stable"):
            cost = float(costs[g])
            optima[g] = self._solve(cost, self._start(cost, solved))
            solved.append((cost, optima[g]))
        return optima

    def _start(self, cost: float, solved: Sequence[tuple[float, Floats]]) -> Floats:
        """The last optimum, or the extrapolation of the last two in log C if that is a better start."""
        if not solved:
            return np.zeros((len(self._signs), self._rows.shape[1]))
        last_cost, last = solved[-1]
        if not self._loss.smooth or len(solved) < 2 or solved[-2][0] == last_cost:
            return last
        earlier_cost, earlier = solved[-2]
        ahead = last + (last - earlier) * (np.log(cost / last_cost) / np.log(last_cost / earlier_cost))
        better = self._objective(cost, ahead) < self._objective(cost, last)
        return np.where(better[:, None], ahead, last)

    def _objective(self, cost: float, coef: Floats) -> Floats:
        margins = self._scaling.shared(coef) @ self._rows.T
        value: Floats = 0.5 * (self._ridge * np.square(coef)).sum(1) + cost * self._loss.value(self._signs, margins)
        return value

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
        """Step lengths: 1 if that descends enough, otherwise the minimum along the direction."""
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
