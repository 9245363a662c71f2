"""Descriptors of SMILES, with RDKit: sizes, counts, surfaces, charges and solubility, computed and never measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from adgcl.graphs.chem.morgan import molecule
from adgcl.jobs.chunks import map_chunks

Values = npt.NDArray[np.float64]
# Surface areas by partial charge, by refractivity and by logP, and the molecular quantum numbers of Nguyen et al. 2009.
_FAMILIES = {"PEOE_VSA": 14, "SMR_VSA": 10, "SlogP_VSA": 12, "MQNs": 42}


def descriptors(
    smiles: Sequence[str], workers: int | None = None, progress: Callable[[int, int], None] | None = None
) -> Values:
    """One row of descriptors per molecule, NaN where RDKit has no value; see `descriptor_names`."""
    rows = np.empty((len(smiles), len(descriptor_names())))
    done = 0
    for size, values in map_chunks(_described, smiles, workers):
        rows[done : done + size] = values
        done += size
        if progress is not None:
            progress(done, len(smiles))
    return rows


@cache
def descriptor_names() -> tuple[str, ...]:
    """The columns: RDKit's property list, then the families of surfaces and counts."""
    from rdkit.Chem import rdMolDescriptors

    listed = tuple(rdMolDescriptors.Properties().GetPropertyNames())
    return listed + tuple(f"{family}{i + 1}" for family, size in _FAMILIES.items() for i in range(size))


def _described(smiles: list[str]) -> Values:
    """The descriptors of a few molecules."""
    from rdkit import rdBase
    from rdkit.Chem import rdMolDescriptors

    listed = rdMolDescriptors.Properties()
    families = [getattr(rdMolDescriptors, f"{family}_") for family in _FAMILIES]

    def row(mol: Any) -> list[float]:
        return [*listed.ComputeProperties(mol), *(value for family in families for value in family(mol))]

    with rdBase.BlockLogs():
        values = np.array([row(molecule(text)) for text in smiles])
    return np.where(np.isfinite(values), values, np.nan)
