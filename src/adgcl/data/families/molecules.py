"""What data sets of molecules share: a table's SMILES become graphs, and its split is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from adgcl.core.progress import Count
from adgcl.core.schema import Task
from adgcl.data.dataset import BadRow, Dataset, Origin
from adgcl.data.splits import Parts, restricted
from adgcl.graphs.chem.atoms import FeatureSet
from adgcl.graphs.chem.molecules import molecules_to_store


@dataclass(frozen=True)
class MoleculeTable:
    """A table as its source has it: a SMILES and a row of labels per molecule, and a split of all of them."""

    name: str
    origin: Origin
    smiles: Sequence[str]
    y: npt.NDArray[np.float64]
    task: Task
    split: Parts

    def read(self, features: FeatureSet, workers: int | None = None, progress: Count | None = None) -> Dataset:
        """The molecules as graphs; those that this RDKit rejects are bad rows, and move no other to another part."""
        molecules = molecules_to_store(
            self.smiles, features, y=self.y, task=self.task, workers=workers, progress=progress
        )
        failures = molecules.failures
        return Dataset(
            self.name,
            molecules.store,
            self.origin,
            split=restricted(self.split, molecules.kept),
            # Line 1 is the header.
            bad_rows=tuple(BadRow(failure.position + 2, failure.smiles, failure.reason) for failure in failures),
            rows=molecules.kept,
            smiles=tuple(self.smiles[i] for i in molecules.kept),
            mixtures=molecules.mixtures,
        )
