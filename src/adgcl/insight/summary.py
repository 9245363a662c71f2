"""Summary: mean drop probabilities of the bonds that share a trait, for several augmenters side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from adgcl.insight.bonds import Floats
from adgcl.insight.traits import Trait


@dataclass(frozen=True)
class Group:
    """The bonds with one value of a trait: how many, and the mean drop probability by each augmenter."""

    trait: str
    value: str
    count: int
    drop: Mapping[str, float]


def summarise(traits: Sequence[Trait], drop: Mapping[str, Floats]) -> list[Group]:
    """A group for each value of each trait that occurs, in the order of the values."""
    groups = []
    for trait in traits:
        counts = np.bincount(trait.code, minlength=len(trait.values))
        means = {name: group_means(trait, values) for name, values in drop.items()}
        groups += [
            Group(trait.name, value, int(counts[i]), {name: float(mean[i]) for name, mean in means.items()})
            for i, value in enumerate(trait.values)
            if counts[i]
        ]
    return groups


def group_means(trait: Trait, values: Floats) -> Floats:
    """The mean of `values` over the bonds with each value of a trait; NaN where there is none."""
    counts = np.bincount(trait.code, minlength=len(trait.values))
    sums = np.bincount(trait.code, weights=values, minlength=len(trait.values))
    with np.errstate(invalid="ignore"):
        means: Floats = sums / counts
    return means
