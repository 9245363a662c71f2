"""Chemistry: what the codes of a data set's nodes and edges mean, where they are atoms and bonds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from adgcl.data.dataset import Dataset
from adgcl.graphs.store.ranges import IntArray

BOND_KINDS = ("single", "double", "triple", "aromatic", "other")
_SINGLE, _DOUBLE, _TRIPLE, _AROMATIC, _OTHER = range(5)
CARBON, HYDROGEN = 6, 1
# Node and edge labels of TU sets whose description says what they stand for: elements, and kinds of bonds.
_TU: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "MUTAG": ((6, 7, 8, 9, 53, 17, 35), (_AROMATIC, _SINGLE, _DOUBLE, _TRIPLE)),
}
_CHARGE_COLUMN, _CHARGE_ZERO, _HYDROGENS_COLUMN = 3, 5, 4  # of the feature set `ogb`


@dataclass(frozen=True, eq=False)
class Chemistry:
    """Atomic numbers of all nodes (0: no element), kinds of all edges, and charges and hydrogens where known."""

    element: IntArray
    kind: IntArray
    charge: IntArray | None = None
    hydrogens: IntArray | None = None


def chemistry_of(dataset: Dataset) -> Chemistry | None:
    """The atoms and bonds of a data set with all features of its source; None if it does not hold molecules."""
    store = dataset.store
    name = store.spec.name.partition("+")[0]
    if store.x is None or store.edge_attr is None:
        return None
    codes, bonds = np.asarray(store.x), np.asarray(store.edge_attr)[:, 0].astype(np.int64)
    if name in ("ogb", "hu"):
        atom = codes[:, 0].astype(np.int64) + 1
        element, kind = np.where(atom > 118, 0, atom), np.minimum(bonds, _OTHER)
        if name == "hu":
            return Chemistry(element, kind)
        charge = codes[:, _CHARGE_COLUMN].astype(np.int64) - _CHARGE_ZERO
        return Chemistry(element, kind, charge, codes[:, _HYDROGENS_COLUMN].astype(np.int64))
    if dataset.origin.family == "tu" and dataset.name in _TU:
        elements, kinds = _TU[dataset.name]
        values, orders = store.spec.node.values[0], store.spec.edge.values[0]
        named = max(values) < len(elements) and max(orders) < len(kinds)
        if named:
            return Chemistry(
                np.array([elements[value] for value in values])[codes[:, 0]],
                np.array([kinds[order] for order in orders])[bonds],
            )
    return None


def symbols(elements: npt.NDArray[Any]) -> list[str]:
    """The symbol of each atomic number; `*` for what is no element."""
    from rdkit import Chem

    table = Chem.GetPeriodicTable()
    return ["*" if number < 1 else str(table.GetElementSymbol(int(number))) for number in elements]
