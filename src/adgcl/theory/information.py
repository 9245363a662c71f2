"""Entropy and mutual information of finite distributions, in nats."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
NATS_PER_BIT = float(np.log(2))


def bits(nats: float) -> float:
    """Nats in bits; what rounding made negative is 0."""
    return max(float(nats), 0.0) / NATS_PER_BIT


def added(index: Ints, values: Floats, count: int = 0) -> Floats:
    """The sum of the values of each index, for at least `count` of them."""
    sums: Any = np.bincount(index, values, count)
    return np.asarray(sums, dtype=np.float64)


def entropy(p: Floats) -> float:
    """`-sum p log p` over all entries; 0 log 0 is 0."""
    kept = p[p > 0]
    return float(-(kept * np.log(kept)).sum())


def mutual_information(joint: Floats) -> float:
    """`I(A; B)` of a joint distribution `[A, B]`."""
    outer = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
    seen = joint > 0
    return float((joint[seen] * np.log(joint[seen] / outer[seen])).sum())


def conditional_information(joint: Floats) -> float:
    """`I(A; B | Y)` of a joint distribution `[Y, A, B]`."""
    total = 0.0
    for part in joint:
        if (weight := float(part.sum())) > 0:
            total += weight * mutual_information(part / weight)
    return total
