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
            parts.append(
                f"{self.atoms} atoms of {self.molecules_by_atoms} molecules are no element and read as `other`"
            )
        if self.molecules_by_bonds:
            parts.append(
                f"{self.molecules_by_bonds} molecules have bonds of other kinds (such as dative), read as the nearest"
            )
        if self.molecules_by_chirality:
            parts.append(f"{self.molecules_by_chirality} molecules have chirality that is not tetrahedral")
        return "; ".join(parts)


def count_strangers(store: GraphStore, smiles: Sequence[str] | None) -> Strangers:
    """Count in molecules; graphs of other kinds have no vocabulary."""
    if store.spec.name not in _MOLECULES or store.x is None:
        return Strangers()
    strange = np.asarray(store.x[:, 0]) == _OTHER_ATOM
    owner = np.repeat(np.arange(len(store)), store.node_counts)
    bonds, chirality = _unusual([text for text in smiles or () if _PERHAPS.search(text)])
    return Strangers(int(strange.sum()), len(np.unique(owner[strange])), bonds, chirality)


def _unusual(smiles: Sequence[str]) -> tuple[int, int]:
    """How many molecules have bonds, and how many have chirality, that the feature tables do not know."""
    from rdkit import Chem, rdBase

    with rdBase.BlockLogs():
        read = [Chem.MolFromSmiles(text) for text in smiles]
    molecules = [molecule for molecule in read if molecule is not None]
    bonds = sum(any(bond.GetBondType().name not in _BONDS for bond in one.GetBonds()) for one in molecules)
    chiral = sum(any(atom.GetChiralTag().name not in _CHIRALITY for atom in one.GetAtoms()) for one in molecules)
    return bonds, chiral
