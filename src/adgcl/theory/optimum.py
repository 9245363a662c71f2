"""Optimum: an augmentation as a law T(t | G), its two costs, and what no law can beat."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from adgcl.theory.information import Floats, bits, mutual_information
from adgcl.theory.universe import Universe


@dataclass(frozen=True, eq=False)
class Optimum:
    """A law `[G, targets]` for one lambda, with `I(t'(G'); G')` in nats and the expected share of dropped edges.

    `lower` is a value of the objective, in nats, that no law whatsoever can go below.
    """

    lam: float
    law: Floats = field(repr=False)
    drop_ratio: float
    information: float
    lower: float = -np.inf

    @property
    def objective(self) -> float:
        """`I(t'(G'); G') + lambda * E[drop ratio]`."""
        return self.information + self.lam * self.drop_ratio

    def to_json(self) -> dict[str, Any]:
        return {
            "drop_ratio": self.drop_ratio,
            "information_bits": bits(self.information),
            "gap_bits": bits(self.objective - self.lower),
        }


def assess(universe: Universe, law: Floats, lam: float, lower: float = -np.inf) -> Optimum:
    """The costs of any law."""
    drop_ratio = float(universe.weight @ (law * universe.cost).sum(axis=1))
    joint = universe.class_weight[:, None] * universe.merged(law)
    return Optimum(lam, law, drop_ratio, mutual_information(joint), lower)
