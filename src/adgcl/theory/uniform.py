"""Uniform dropping (NAD-GCL): every edge of every graph is kept with one probability."""

from __future__ import annotations

import numpy as np

from adgcl.theory.information import Floats
from adgcl.theory.optimum import Optimum, assess
from adgcl.theory.universe import Universe

# Probabilities near 0 and 1 matter most where lambda is small or large: steps are even in the logit.
_GRID = 1 / (1 + np.exp(-np.linspace(-16.0, 16.0, 129)))
_REFINEMENTS = 12


def uniform_law(universe: Universe, keep: float) -> Floats:
    """T(t | G) `[G, targets]` if each edge is kept with probability `keep`."""
    kept = universe.target_edges
    dropped = np.maximum(universe.edges[:, None] - kept, 0)
    law: Floats = universe.copies * keep**kept * (1 - keep) ** dropped
    return law


def best_uniform(universe: Universe, lam: float, lower: float = -np.inf) -> Optimum:
    """The best single probability for one lambda: the best of a fine grid, then of finer ones around it."""
    grid = np.concatenate(([0.0], _GRID, [1.0]))
    for _ in range(_REFINEMENTS):
        values = [assess(universe, uniform_law(universe, keep), lam).objective for keep in grid]
        best = int(np.argmin(values))
        grid = np.linspace(grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)], 9)
    middle = float(grid[len(grid) // 2])
    return assess(universe, uniform_law(universe, middle), lam, lower)
