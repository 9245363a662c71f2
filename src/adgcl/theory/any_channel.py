"""The best of all augmentations, by Blahut and Arimoto's algorithm, with a proof of how good it is.

Minimise `I(t'; G') + lambda * E[drop ratio]` over all laws T(t | G) that turn a graph into one of its subgraphs. With
`q(t)` in place of the marginal the problem is jointly convex in law and q, and alternating between them reaches the
optimum. As a function of q alone it stays convex, so its slopes give a lower bound: the gap between a law and that
bound is a certificate that needs no trust in the iteration.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from adgcl.core.errors import AdgclError
from adgcl.theory.information import NATS_PER_BIT, Floats, Ints
from adgcl.theory.optimum import Optimum, assess
from adgcl.theory.ties import Ties, find_ties
from adgcl.theory.universe import Universe

TOLERANCE_BITS = 1e-6
# Half of it, so that rounding cannot lift the reported gap above it.
_TOLERANCE = 0.5 * TOLERANCE_BITS * NATS_PER_BIT
_MOST_ROUNDS, _UPDATES = 5000, 20
# No target ever loses all its mass, so that it can return; idle ones are not worth updating.
_LEAST_MASS, _IDLE_MASS = 1e-16, 1e-12
_FARTHEST = 1e4


@dataclass(frozen=True, eq=False)
class _Problem:
    """`kernel [classes, targets]` is `exp(-lambda * drop ratio)`, 0 where a class cannot become a target."""

    kernel: Floats
    weight: Floats
    ties: list[Ties]

    def cut(self, targets: Ints) -> _Problem:
        """The problem with only some of the targets."""
        ties = [tie.cut(targets) for tie in self.ties]
        return _Problem(np.ascontiguousarray(self.kernel[:, targets]), self.weight, ties)

    @cached_property
    def limits(self) -> tuple[Floats, Floats, Ints]:
        """For every set of tied graphs: its part of the kernel `[sets, targets]`, its share, and whose set it is."""
        known = [(number, tie, members) for number, tie in enumerate(self.ties) for members in tie.sets]
        tables = [tie.needs_only(members) * self.kernel[tie.row] for _, tie, members in known]
        shares = [tie.share[members] for _, tie, members in known]
        owners = np.array([number for number, _, _ in known], dtype=np.int64)
        return np.array(tables).reshape(-1, self.kernel.shape[1]), np.array(shares), owners

    def strained(self, q: Floats, total: Floats) -> list[Ties]:
        """The classes in which a limit is in force; in all others the graphs can share one law."""
        table, share, owner = self.limits
        rows = np.array([tie.row for tie in self.ties], dtype=np.int64)
        over = table @ q > share * total[rows[owner]]
        return [self.ties[i] for i in np.unique(owner[over]).tolist()]

    def look(self, q: Floats) -> tuple[float, Floats]:
        """The objective of the law that is best for q, and the mean over classes of `T'(t | G') / q(t)`.

        The mean is minus the slope of the objective, and what Blahut and Arimoto multiply q with.
        """
        total = self.kernel @ q
        growth = (self.weight / total) @ self.kernel
        value = -float(self.weight @ np.log(total))
        for tie in self.strained(q, total):
            row, weight = self.kernel[tie.row], self.weight[tie.row]
            mass = row * q
            factors = tie.factors(mass)
            growth += weight * row * (factors - 1 / total[tie.row])
            seen = mass > 0
            value += weight * float(mass[seen] @ (factors[seen] * np.log(factors[seen])) + np.log(total[tie.row]))
        return value, growth

    def update(self, q: Floats) -> tuple[float, Floats]:
        """The objective at q, and the next q."""
        value, growth = self.look(q)
        return value, _spread(q * growth)

    def leap(self, q: Floats) -> Floats:
        """Two updates, then as far in their direction as they seem to lead, if that is better (SQUAREM)."""
        _, first = self.update(q)
        value, second = self.update(first)
        step, bend = first - q, second - 2 * first + q
        length = min(float(np.linalg.norm(step)) / max(float(np.linalg.norm(bend)), 1e-300), _FARTHEST)
        far = _spread(q + 2 * length * step + length * length * bend)
        there, beyond = self.update(far)
        return beyond if there <= value else second


def best_of_all(universe: Universe, lam: float) -> Optimum:
    """The optimum over all laws for one lambda, to within a millionth of a bit."""
    kernel = np.where(universe.reachable, np.exp(-lam * np.maximum(universe.cost, 0.0)), 0.0)
    # The graphs of a class have equally many edges, so they differ only in what they can become.
    joined = np.zeros((universe.num_classes, universe.num_targets))
    np.maximum.at(joined, universe.class_of, kernel)
    problem = _Problem(joined, universe.class_weight, find_ties(universe))
    q = np.full(universe.num_targets, 1 / universe.num_targets)
    for _ in range(_MOST_ROUNDS):
        value, growth = problem.look(q)
        # Convexity: no q can be better than this one by more than the steepest slope promises.
        slack = float(growth.max()) - 1
        if slack <= _TOLERANCE:
            return assess(universe, _law(universe, problem, q), lam, value - slack)
        q = _spread(q * growth)
        busy = np.flatnonzero(q > _IDLE_MASS)
        part, rest = problem.cut(busy), q[busy].sum()
        fresh = q[busy] / rest
        for _ in range(_UPDATES):
            fresh = part.leap(fresh)
        q[busy] = fresh * rest
    raise AdgclError(f"The iteration has not settled for lambda {lam:g}.", "This is a bug in adgcl: please report it.")


def _spread(q: Floats) -> Floats:
    """A distribution from `q`, in which nothing is 0."""
    q = np.maximum(q, _LEAST_MASS)
    spread: Floats = q / q.sum()
    return spread


def _law(universe: Universe, problem: _Problem, q: Floats) -> Floats:
    """The law T(t | G) that is best for q."""
    mass = problem.kernel * q
    law: Floats = (mass / mass.sum(axis=1, keepdims=True))[universe.class_of]
    for tie in problem.ties:
        law[tie.graphs] = tie.divided(mass[tie.row], universe.share[tie.graphs])
    return law
