"""Agreement: how often two rankings order the bonds of a graph in the same way."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from adgcl.insight.bonds import Bonds, Floats

# Of larger graphs, pairs of bonds at this many distances are compared, drawn with a fixed seed.
_MOST_DISTANCES = 256


def pairs_in_order(bonds: Bonds, one: Floats, other: Floats) -> float:
    """The share of pairs of bonds of the same graph that both rankings order alike; NaN if there is none.

    A pair that either ranking ties counts half, so a constant agrees with anything at 0.5: chance.
    """
    agreed, pairs = 0.0, 0
    for distance in _distances(int(bonds.counts.max(initial=0))):
        first = np.arange(len(bonds) - distance)
        first = first[bonds.graph[first] == bonds.graph[first + distance]]
        sign = np.sign(one[first + distance] - one[first]) * np.sign(other[first + distance] - other[first])
        agreed += float((1 + sign).sum()) / 2
        pairs += len(first)
    return agreed / pairs if pairs else float("nan")


def mean_agreement(bonds: Bonds, rankings: list[Floats]) -> float:
    """The mean over all pairs of rankings; NaN for fewer than two."""
    found = [pairs_in_order(bonds, one, other) for one, other in combinations(rankings, 2)]
    return float(np.mean(found)) if found else float("nan")


def _distances(most: int) -> list[int]:
    every = np.arange(1, max(most, 1))
    if len(every) > _MOST_DISTANCES:
        every = np.sort(np.random.default_rng(0).permutation(every)[:_MOST_DISTANCES])
    return every.tolist()
