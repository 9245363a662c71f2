"""Ties: graphs that share a 1-WL class share T'(t | G'), but each can only become its own subgraphs.

What only some graphs of a class can become gets at most their share of T'. This file projects onto these limits and
divides T' among the graphs again. The smallest example is the hexagon and two triangles.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from adgcl.theory.information import Floats, Ints, added
from adgcl.theory.universe import Universe

_FITTING_ROUNDS = 10_000


@dataclass(frozen=True, eq=False)
class Ties:
    """One class of several graphs: which of them can become what.

    A set of graphs is a number whose bits are its members. `able [targets]` is the set of graphs that can become a
    target, `share [sets]` the probability of each set within the class.
    """

    row: int
    graphs: Ints
    able: Ints
    share: Floats

    @property
    def sets(self) -> range:
        """The sets of graphs that a limit can hold for: neither none nor all."""
        return range(1, len(self.share) - 1)

    def needs_only(self, members: int) -> npt.NDArray[np.bool_]:
        """The targets that no graph outside a set of graphs can become."""
        return (self.able & ~members) == 0

    def cut(self, targets: Ints) -> Ties:
        """The same class with only some of the targets."""
        return replace(self, able=self.able[targets])

    def levels(self, mass: Floats) -> Iterator[tuple[Ints, Ints, float]]:
        """The law nearest to `mass` within the limits: graphs, their targets, and the factor of mass on these.

        Sets of graphs that would get more than their share get exactly it, the most overloaded first; the others
        share what remains. If no limit is in force, all graphs form one level.
        """
        totals = added(self.able, mass, len(self.share))
        sets = np.arange(len(self.share))
        load = ((sets & ~sets[:, None]) == 0) @ totals
        base = 0
        while base != sets[-1]:
            larger = sets[(sets & base == base) & (sets != base)]
            excess = (load[larger] - load[base]) / (self.share[larger] - self.share[base])
            best = int(larger[excess >= excess.max() * (1 - 1e-12)][-1])
            targets = np.flatnonzero((self.able & ~best == 0) & (self.able & ~base != 0))
            fresh = np.flatnonzero((best & ~base) >> np.arange(len(self.graphs)) & 1)
            yield fresh, targets, (self.share[best] - self.share[base]) / (load[best] - load[base])
            base = best

    def factors(self, mass: Floats) -> Floats:
        """The factor of the mass on each target."""
        factors = np.zeros(len(mass))
        for _, targets, factor in self.levels(mass):
            factors[targets] = factor
        return factors

    def divided(self, mass: Floats, share: Floats) -> Floats:
        """A law for each graph of the class whose mean is nearest to `mass`; graphs are as alike as they can be."""
        law = np.zeros((len(self.graphs), len(mass)))
        for fresh, targets, factor in self.levels(mass):
            able = self.able[targets] >> fresh[:, None] & 1
            law[np.ix_(fresh, targets)] = _fitted(able * share[fresh, None], share[fresh], factor * mass[targets])
        return law / share[:, None]


def find_ties(universe: Universe) -> list[Ties]:
    """The classes of several graphs."""
    found = []
    for row in np.flatnonzero(np.bincount(universe.class_of) > 1).tolist():
        graphs = np.flatnonzero(universe.class_of == row)
        able = (1 << np.arange(len(graphs))) @ universe.reachable[graphs].astype(np.int64)
        sets = np.arange(1 << len(graphs))
        share = (sets[:, None] >> np.arange(len(graphs)) & 1) @ universe.share[graphs]
        found.append(Ties(row, graphs, able, share))
    return found


def _fitted(table: Floats, rows: Floats, columns: Floats) -> Floats:
    """The table with these sums that is nearest to the given one, by fitting rows and columns in turns."""
    table = table.astype(float) * columns
    for _ in range(_FITTING_ROUNDS):
        sums = table.sum(axis=1)
        table *= (rows / sums)[:, None]
        if np.abs(rows - sums).max() < 1e-14:
            break
        sums = table.sum(axis=0)
        table *= np.divide(columns, sums, out=np.zeros_like(sums), where=sums > 0)
    return table
