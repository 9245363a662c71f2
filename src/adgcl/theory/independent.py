"""The paper's family: every edge is kept independently, with a probability of its own (equal on an edge orbit).

The probability that a graph becomes a target is a sum over subsets of its edges. Subsets that give the same target and
keep equally many edges of every orbit are equally likely, so they are counted once: for 6 nodes 142 thousand subsets
become 24 thousand terms. The objective is not convex; it is minimised by gradient from many starts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import block_diag, csr_array

from adgcl.core.progress import Count
from adgcl.core.seeds import derived_rng
from adgcl.theory.information import Floats, Ints, added
from adgcl.theory.optimum import Optimum, assess
from adgcl.theory.universe import Universe

# Beyond this logit an edge is as good as certain, and probabilities keep their digits.
_LARGEST_LOGIT = 25.0
# From every start, and then from the best point found.
_ITERATIONS, _LAST_ITERATIONS = 200, 2000


@dataclass(frozen=True, eq=False)
class EdgeFamily:
    """The family on one universe; its parameters are keep logits, one for each edge orbit of each graph.

    Term r contributes `exp(log_count[r] + kept[r] . logits + sum over the graph's orbits of size * log(1 - p))` to
    cell `cell[r]` of the law `[G, targets]`. `size [orbits]` is the number of edges of an orbit and `graph [orbits]`
    the graph it belongs to.
    """

    universe: Universe
    kept: csr_array
    log_count: Floats
    cell: Ints
    size: Ints
    graph: Ints

    @property
    def num_orbits(self) -> int:
        return len(self.size)

    def law(self, logits: Floats) -> Floats:
        """T(t | G) `[G, targets]`."""
        shape = (len(self.universe), self.universe.num_targets)
        return added(self.cell, self._terms(logits), shape[0] * shape[1]).reshape(shape)

    def objective(self, logits: Floats, lam: float) -> tuple[float, Floats]:
        """`I(t'; G') + lambda * E[drop ratio]` in nats, and its gradient."""
        universe = self.universe
        terms = self._terms(logits)
        law = added(self.cell, terms, len(universe) * universe.num_targets)
        merged = universe.merged(law.reshape(len(universe), -1))
        marginal = universe.class_weight @ merged
        surprise = np.zeros_like(merged)
        np.log(np.divide(merged, marginal, out=surprise, where=merged > 0), out=surprise, where=merged > 0)
        information = float(universe.class_weight @ (merged * surprise).sum(axis=1))
        keep = _sigmoid(logits)
        price = self._price(lam)
        # The derivative of a term by a logit is the term times (edges kept - edges expected to be kept).
        slope = terms * (universe.weight[:, None] * surprise[universe.class_of]).ravel()[self.cell]
        by_graph = added(self.cell // universe.num_targets, slope, len(universe))
        gradient = self.kept.T @ slope - self.size * keep * by_graph[self.graph] - price * keep * (1 - keep)
        return information + float(price @ (1 - keep)), gradient

    def imitate(self, law: Floats) -> Floats:
        """The logits that keep each edge as often as a law `[G, targets]` does, equal subsets being equally likely."""
        copies = self.universe.copies.ravel()[self.cell]
        terms = np.exp(self.log_count) * law.ravel()[self.cell] / copies
        keep = np.clip((self.kept.T @ terms) / self.size, 1e-6, 1 - 1e-6)
        logits: Floats = np.log(keep) - np.log1p(-keep)
        return logits

    def _price(self, lam: float) -> Floats:
        """What dropping each orbit with certainty costs."""
        universe = self.universe
        price: Floats = lam * universe.weight[self.graph] * self.size / np.maximum(universe.edges, 1)[self.graph]
        return price

    def _terms(self, logits: Floats) -> Floats:
        softplus: Floats = np.logaddexp(0.0, logits)
        missed = -added(self.graph, self.size * softplus, len(self.universe))
        terms: Floats = np.exp(self.log_count + self.kept @ logits + missed[self.cell // self.universe.num_targets])
        return terms


def edge_family(universe: Universe, progress: Count | None = None) -> EdgeFamily:
    """Group the subsets of every graph's edges into terms."""
    blocks, counts, cells, sizes, owners = [], [], [], [], []
    for row, shape in enumerate(universe.members.tolist()):
        size, targets, kept, count = _terms_of(universe, shape)
        blocks.append(csr_array(kept))
        counts.append(count)
        cells.append(row * universe.num_targets + targets)
        sizes.append(size)
        owners.append(np.full(len(size), row))
        if progress is not None:
            progress(row + 1, len(universe))
    matrix = csr_array(block_diag(blocks, format="csr", dtype=np.float64))
    log_count = np.log(np.concatenate(counts))
    return EdgeFamily(universe, matrix, log_count, *map(np.concatenate, (cells, sizes, owners)))


def best_independent(
    family: EdgeFamily, lam: float, starts: Iterable[Floats], lower: float = -np.inf, progress: Count | None = None
) -> tuple[Optimum, Floats]:
    """The best that gradients find from all starts, and its logits."""
    starts = list(starts)
    found: list[tuple[float, Floats]] = []
    for number, start in enumerate(starts):
        found.append(_descend(family, lam, start, _ITERATIONS))
        if progress is not None:
            progress(number + 1, len(starts))
    _, logits = _descend(family, lam, min(found, key=lambda pair: pair[0])[1], _LAST_ITERATIONS)
    return assess(family.universe, family.law(logits), lam, lower), logits


def make_starts(family: EdgeFamily, guides: Iterable[Floats], count: int, seed: int = 0) -> list[Floats]:
    """Logits to start from: as near as the family comes to good laws, near these, and random ones."""
    near = [family.imitate(law) for law in guides]
    rng = derived_rng(seed, "theory", "starts")
    starts = near[:count]
    while len(starts) < count:
        kind = len(starts) % 4
        if kind:
            starts.append(near[kind % len(near)] + rng.normal(0.0, 0.5 * kind, family.num_orbits))
        else:
            level = rng.normal(0.0, 3.0, len(family.universe))
            starts.append(level[family.graph] + rng.normal(0.0, 1.0, family.num_orbits))
    return starts


def _descend(family: EdgeFamily, lam: float, start: Floats, iterations: int) -> tuple[float, Floats]:
    result = minimize(
        family.objective,
        np.clip(start, -_LARGEST_LOGIT, _LARGEST_LOGIT),
        args=(lam,),
        jac=True,
        method="L-BFGS-B",
        bounds=[(-_LARGEST_LOGIT, _LARGEST_LOGIT)] * family.num_orbits,
        options={"maxiter": iterations, "maxfun": 2 * iterations, "ftol": 1e-12, "gtol": 1e-8, "maxcor": 20},
    )
    return float(result.fun), result.x


def _terms_of(universe: Universe, shape: int) -> tuple[Ints, Ints, Ints, Ints]:
    """The sizes of a shape's edge orbits; the target, the edges kept of each orbit and the number of equal subsets."""
    orbit = universe.shapes.orbits(shape)
    size = np.bincount(orbit) if len(orbit) else np.zeros(0, dtype=np.int64)
    # How many edges of each orbit are kept, as digits of one number.
    digit = np.concatenate(([1], np.cumprod(size + 1)))
    code = np.zeros(1, dtype=np.int64)
    for number in orbit.tolist():
        code = np.concatenate((code, code + digit[number]))
    keys = code * universe.num_targets + universe.target_of[universe.subgraphs(shape)]
    keys, count = np.unique(keys, return_counts=True)
    code, targets = np.divmod(keys, universe.num_targets)
    return size, targets, code[:, None] // digit[:-1] % (size + 1), count


def _sigmoid(logits: Floats | float) -> Floats:
    return 1 / (1 + np.exp(-np.asarray(logits, dtype=np.float64)))
