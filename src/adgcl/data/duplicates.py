"""Duplicates: the same molecule in several rows, which a test part must not share with a training part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from adgcl.data.dataset import Dataset
from adgcl.jobs.chunks import map_chunks


@dataclass(frozen=True)
class Duplicates:
    """How many rows repeat a molecule of an earlier row, and how many of the split's rows are in two parts."""

    repeated: int = 0
    across_parts: int = 0

    def __str__(self) -> str:
        if self.across_parts:
            return (
                f"{self.across_parts} molecules of the valid and test parts are also in the training part: "
                "their scores reflect memorisation rather than new molecules."
            )
        return f"{self.repeated} rows repeat a molecule of another row." if self.repeated else ""


def find_duplicates(dataset: Dataset) -> Duplicates:
    """Compare molecules by their canonical SMILES; graphs without SMILES are not compared."""
    if dataset.smiles is None:
        return Duplicates()
    names = np.array(canonical_smiles(list(dataset.smiles)), dtype=object)
    _, first = np.unique(names.astype(str), return_index=True)
    across = 0
    if dataset.split is not None:
        known = set(names[dataset.split["train"]])
        later = np.concatenate([dataset.split[part] for part in ("valid", "test") if part in dataset.split])
        across = sum(name in known for name in names[later])
    return Duplicates(len(names) - len(first), int(across))


def canonical_smiles(smiles: Sequence[str]) -> list[str]:
    """RDKit's canonical SMILES of each; unreadable text is kept as it is."""
    return [name for _, chunk in map_chunks(_canonical, smiles) for name in chunk]


def _canonical(smiles: list[str]) -> list[str]:
    from rdkit import Chem, rdBase

    with rdBase.BlockLogs():
        molecules = [Chem.MolFromSmiles(text) for text in smiles]
    return [text if molecule is None else Chem.MolToSmiles(molecule) for text, molecule in zip(smiles, molecules)]
