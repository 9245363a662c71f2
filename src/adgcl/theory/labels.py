"""Labels Y on a universe, and what an augmentation leaves of them.

Two joint laws must be kept apart where Y differs within a 1-WL class. In the theorem t'(G') is drawn given the class,
so it knows of Y only what the class does (`of_classes`). In training t(G) is drawn given the graph (`of_graphs`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import networkx
import numpy as np

from adgcl.core.seeds import derived_rng
from adgcl.theory.information import Floats, added, bits, conditional_information, entropy, mutual_information
from adgcl.theory.universe import Universe

_RANDOM_SEED = 0
RULES: dict[str, Callable[[networkx.Graph], bool]] = {
    "triangle": lambda graph: any(networkx.triangles(graph).values()),
    "connected": networkx.is_connected,
    "degree": lambda graph: max(degree for _, degree in graph.degree) >= 3,
}
TITLES = {
    "triangle": "has a triangle",
    "connected": "is connected",
    "degree": "largest degree at least 3",
    "random": "a coin thrown once for each graph",
    "coin": "a coin thrown anew each time",
}


def label_table(universe: Universe, name: str) -> Floats:
    """P(Y, G) `[2, G]` of one of the labels in `TITLES`."""
    if name == "coin":
        return np.stack([universe.weight, universe.weight]) / 2
    if name == "random":
        chosen = derived_rng(_RANDOM_SEED, "theory", "labels").integers(0, 2, len(universe.shapes))[universe.members]
    else:
        rule = RULES[name]
        chosen = np.array([int(rule(universe.graph(i))) for i in range(len(universe))])
    return np.stack([universe.weight * (chosen == y) for y in (0, 1)])


@dataclass(frozen=True, eq=False)
class Labelled:
    """A universe with a label: `joint [2, G]` is P(Y, G)."""

    universe: Universe
    joint: Floats

    @classmethod
    def named(cls, universe: Universe, name: str) -> Labelled:
        return cls(universe, label_table(universe, name))

    @property
    def by_class(self) -> Floats:
        """P(Y, G') `[2, classes]`."""
        return np.stack([added(self.universe.class_of, row, self.universe.num_classes) for row in self.joint])

    @property
    def entropy(self) -> float:
        """`H(Y)`."""
        return entropy(self.joint.sum(axis=1))

    @property
    def encoder_information(self) -> float:
        """`I(f(G); Y)` of an encoder as powerful as the 1-WL test, which is `I(G'; Y)`."""
        return mutual_information(self.by_class)

    def of_classes(self, law: Floats) -> Floats:
        """P(Y, G', t') `[2, classes, targets]`: t' is drawn given the class alone."""
        joint: Floats = self.by_class[:, :, None] * self.universe.merged(law)
        return joint

    def of_graphs(self, law: Floats) -> Floats:
        """P(Y, G, t) `[2, G, targets]`: t is drawn given the graph."""
        joint: Floats = self.joint[:, :, None] * law
        return joint

    def report(self, law: Floats) -> dict[str, float]:
        """`I(t'; Y)` and `I(t'; G' | Y)` in bits, with t' drawn given the class."""
        joint = self.of_classes(law)
        return {
            "information_bits": bits(mutual_information(joint.sum(axis=1))),
            "given_label_bits": bits(conditional_information(joint)),
        }
