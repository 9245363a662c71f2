"""Vocabulary: atoms and bonds that the feature tables have no entry of their own for, and read as `other`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from adgcl.graphs.store.store import GraphStore

# In both feature sets the first atom column is the element, and this code stands for anything but an element.
_OTHER_ATOM = 118
# Dative and quadruple bonds; `hu` reads them as single bonds, `ogb` as `other`.
_OTHER_BOND = re.compile(r"->|<-|\$")
_MOLECULES = ("ogb", "hu")


@dataclass(frozen=True)
class Strangers:
    """How many atoms are no element, and how many molecules have such atoms or bonds of an unusual kind."""

    atoms: int = 0
    molecules_by_atoms: int = 0
    molecules_by_bonds: int = 0

    def __str__(self) -> str:
        parts = []
        if self.atoms:
            parts.append(
                f"{self.atoms} atoms of {self.molecules_by_atoms} molecules are no element and read as `other`"
            )
        if self.molecules_by_bonds:
            parts.append(
                f"{self.molecules_by_bonds} molecules have dative or quadruple bonds, read as the nearest kind"
            )
        return "; ".join(parts)


def count_strangers(store: GraphStore, smiles: Sequence[str] | None) -> Strangers:
    """Count in molecules; graphs of other kinds have no vocabulary."""
    if store.spec.name not in _MOLECULES or store.x is None:
        return Strangers()
    strange = np.asarray(store.x[:, 0]) == _OTHER_ATOM
    owner = np.repeat(np.arange(len(store)), store.node_counts)
    bonds = sum(_OTHER_BOND.search(text) is not None for text in smiles or ())
    return Strangers(int(strange.sum()), len(np.unique(owner[strange])), bonds)
