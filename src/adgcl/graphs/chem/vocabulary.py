"""Vocabulary: atoms and bonds that the feature tables have no entry of their own for, and read as `other`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from adgcl.graphs.store.store import GraphStore

# In both feature sets the first atom column is the element, and this code stands for anything but an element.
_OTHER_ATOM = 118
# Only SMILES with one of these can hold bonds or chirality of an unusual kind; RDKit is asked about the few that do.
_PERHAPS = re.compile(r"->|<-|[$~]|@(?:TH|AL|SP|TB|OH)")
# `hu` reads other bonds as single ones, `ogb` as `other`; both read other chirality as `other`.
_BONDS = ("SINGLE", "DOUBLE", "TRIPLE", "AROMATIC")
_CHIRALITY = ("CHI_UNSPECIFIED", "CHI_TETRAHEDRAL_CW", "CHI_TETRAHEDRAL_CCW")
_MOLECULES = ("ogb", "hu")
# A corpus of millions is looked through in parts: memory stays small.
_ATOMS_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class Strangers:
    """How many atoms are no element, and how many molecules have such atoms, or bonds or chirality of other kinds."""

    atoms: int = 0
    molecules_by_atoms: int = 0
    molecules_by_bonds: int = 0
    molecules_by_chirality: int = 0

    def __str__(self) -> str:
        parts = []
        if self.atoms:
            where = _counted(self.molecules_by_atoms, "molecule")
            what = "that is no element" if self.atoms == 1 else "that are no element"
            parts.append(f"{_counted(self.atoms, 'atom')} {what} (`*`) in {where}, read as `other`")
        if self.molecules_by_bonds:
            where = _counted(self.molecules_by_bonds, "molecule")
            parts.append(f"bonds of other kinds (such as dative) in {where}, read as the nearest")
        if self.molecules_by_chirality:
            where = _counted(self.molecules_by_chirality, "molecule")
            parts.append(f"chirality that is not tetrahedral in {where}, read as `other`")
        return "; ".join(parts)

    def counts(self) -> dict[str, int]:
        """The four numbers under the names that every command prints as JSON."""
        return {
            "other_atoms": self.atoms,
            "molecules_with_other_atoms": self.molecules_by_atoms,
            "molecules_with_other_bonds": self.molecules_by_bonds,
            "molecules_with_other_chirality": self.molecules_by_chirality,
        }


def count_strangers(store: GraphStore, smiles: Sequence[str] | None) -> Strangers:
    """Count in molecules; graphs of other kinds have no vocabulary."""
    if store.spec.name not in _MOLECULES or store.x is None:
        return Strangers()
    strange = _strange_atoms(store.x)
    owners = np.searchsorted(store.node_ptr, strange, side="right")
    bonds, chirality = _unusual([text for text in smiles or () if _PERHAPS.search(text)])
    return Strangers(len(strange), len(np.unique(owners)), bonds, chirality)


def _strange_atoms(features: np.ndarray) -> np.ndarray:
    """The positions of atoms that are no element."""
    starts = range(0, len(features), _ATOMS_AT_ONCE)
    parts = [start + np.flatnonzero(features[start : start + _ATOMS_AT_ONCE, 0] == _OTHER_ATOM) for start in starts]
    return np.concatenate([np.empty(0, dtype=np.int64), *parts])


def _unusual(smiles: Sequence[str]) -> tuple[int, int]:
    """How many molecules have bonds, and how many have chirality, that the feature tables do not know."""
    from rdkit import Chem, rdBase

    with rdBase.BlockLogs():
        read = [Chem.MolFromSmiles(text) for text in smiles]
    molecules = [molecule for molecule in read if molecule is not None]
    bonds = sum(any(bond.GetBondType().name not in _BONDS for bond in one.GetBonds()) for one in molecules)
    chiral = sum(any(atom.GetChiralTag().name not in _CHIRALITY for atom in one.GetAtoms()) for one in molecules)
    return bonds, chiral


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
