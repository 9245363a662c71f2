"""Seeds: every random number derives from one seed and the place where it is used."""

from __future__ import annotations

import hashlib

import numpy as np

# With how many seeds a method is evaluated, unless the user says otherwise.
DEFAULT_SEEDS = 10


def derived_seed(seed: int, *place: int | str) -> int:
    """A seed for one place (`"epoch", 3`) that shares nothing with the seeds of other places."""
    text = "/".join(str(part) for part in (seed, *place))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little") >> 1


def derived_rng(seed: int, *place: int | str) -> np.random.Generator:
    """A NumPy generator for one place."""
    return np.random.default_rng(derived_seed(seed, *place))
