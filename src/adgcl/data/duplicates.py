"""Duplicates: the same molecule in several rows, which parts of the data must not share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from adgcl.core.words import counted
from adgcl.data.dataset import Dataset, Split
from adgcl.jobs.chunks import map_chunks

Codes = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Duplicates:
    """How many rows repeat a molecule of an earlier row, and what that spoils.

    `across_parts` are held-out rows whose molecule is also trained on, `test_in_valid` test rows whose molecule also
    chooses the epoch and calibrates. `contradicting` are molecules with different classes in different rows.
    """

    repeated: int = 0
    across_parts: int = 0
    test_in_valid: int = 0
    contradicting: int = 0

    def __str__(self) -> str:
        said = []
        if self.across_parts:
            said.append(
                f"{counted(self.across_parts, 'molecule', 'is', 'are')} both in the training part and in the valid or "
                "test part: scores reflect memorisation rather than new molecules."
            )
        if self.test_in_valid:
            said.append(
                f"{counted(self.test_in_valid, 'molecule', 'is', 'are')} both in the test part and in the valid part, "
                "which chooses the epoch."
            )
        if not said and self.repeated:
            said.append(f"{counted(self.repeated, 'row', 'repeats', 'repeat')} a molecule of another row.")
        if self.contradicting:
            said.append(f"{counted(self.contradicting, 'molecule', 'has', 'have')} different labels in different rows.")
        return " ".join(said)


def find_duplicates(dataset: Dataset, divisions: Sequence[Split] = ()) -> Duplicates:
    """Compare molecules by their canonical SMILES; graphs without SMILES are not compared.

    `divisions` are the parts of each network that is trained (default: the data's own split). A row that several of
    them spoil counts once.
    """
    if dataset.smiles is None:
        return Duplicates()
    names = np.array(canonical_smiles(list(dataset.smiles)), dtype=object).astype(str)
    kinds, codes = np.unique(names, return_inverse=True)
    across: set[int] = set()
    test_in_valid: set[int] = set()
    for parts in divisions or ([dataset.split] if dataset.split is not None else []):
        held_out = [part for part in ("valid", "test") if part in parts]
        across.update(row for part in held_out for row in _shared(codes, parts, part, "train"))
        if len(held_out) == 2:
            test_in_valid.update(_shared(codes, parts, "test", "valid"))
    return Duplicates(len(names) - len(kinds), len(across), len(test_in_valid), _contradicting(dataset, codes))


def canonical_smiles(smiles: Sequence[str]) -> list[str]:
    """RDKit's canonical SMILES of each; unreadable text is kept as it is."""
    return [name for _, chunk in map_chunks(_canonical, smiles) for name in chunk]


def _shared(codes: Codes, parts: Mapping[str, npt.NDArray[Any]], part: str, other: str) -> list[int]:
    """The rows of a part whose molecule is also in the other."""
    rows: list[int] = parts[part][np.isin(codes[parts[part]], codes[parts[other]])].tolist()
    return rows


def _contradicting(dataset: Dataset, codes: Codes) -> int:
    """Measured values differ from one measurement to the next; only classes can contradict each other."""
    y = dataset.store.y
    if y is None or dataset.task.kind not in ("binary", "multiclass"):
        return 0
    found: set[int] = set()
    for column in np.asarray(y).T:
        known = ~np.isnan(column)
        pairs = np.unique(np.stack([codes[known], column[known].astype(np.int64)]), axis=1)
        molecules, classes = np.unique(pairs[0], return_counts=True)
        found.update(molecules[classes > 1].tolist())
    return len(found)


def _canonical(smiles: list[str]) -> list[str]:
    from rdkit import Chem, rdBase

    with rdBase.BlockLogs():
        molecules = [Chem.MolFromSmiles(text) for text in smiles]
    return [text if molecule is None else Chem.MolToSmiles(molecule) for text, molecule in zip(smiles, molecules)]
