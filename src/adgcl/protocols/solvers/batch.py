"""The problems Newton's method is still solving, and the interface for finding their directions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from adgcl.protocols.solvers.arrays import Floats, Ints, Mask
from adgcl.protocols.solvers.scaling import Scaling


@dataclass(frozen=True)
class Batch:
    """The problems still open: which ones, their labels, costs, scalings, coefficients and margins."""

    index: Ints
    signs: Floats
    cost: Floats
    scaling: Scaling
    coef: Floats
    margins: Floats

    def keep(self, which: Mask) -> Batch:
        """These problems only."""
        if which.all():
            return self
        parts = {name: value[which] for name, value in vars(self).items()}
        return replace(self, **parts)


class Directions(Protocol):
    """Newton directions `[p, d]` of a batch from its gradients `[p, d]` and curvatures `[p, n]`."""

    def __call__(self, batch: Batch, gradient: Floats, curvature: Floats) -> Floats: ...
