"""Fingerprints of real molecules: more columns than rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from adgcl.core.errors import DataMissingError
from adgcl.data.load import load_dataset
from adgcl.graphs.chem.morgan import morgan_fingerprints

Floats = NDArray[np.float64]


def bace_fingerprints(data_dir: Path, count: int) -> tuple[Floats, Floats]:
    """Fingerprints `[count, 2048]` of inhibitors of beta-secretase 1, and whether they are active."""
    try:
        dataset = load_dataset("moleculenet-bace", data_dir=data_dir)
    except DataMissingError as error:
        pytest.skip(str(error))
    assert dataset.smiles is not None and dataset.store.y is not None
    picked = np.random.default_rng(0).permutation(len(dataset.store))[:count]
    x = morgan_fingerprints([dataset.smiles[i] for i in picked], workers=1).astype(np.float64)
    return x, np.asarray(dataset.store.y[picked, 0], dtype=np.float64)
