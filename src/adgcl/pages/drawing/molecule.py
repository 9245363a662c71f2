"""The RDKit molecule of a graph, with its atoms in the graph's order."""

from __future__ import annotations

from typing import Any

import numpy as np

from adgcl.data.dataset import Dataset
from adgcl.graphs.chem.reading import in_canonical_order, parse
from adgcl.insight.bonds import Bonds
from adgcl.insight.chemistry import BOND_KINDS, Chemistry

# Beyond this a picture shows nothing, and RDKit's layout takes seconds.
MOST_ATOMS = 200


def molecule_of(dataset: Dataset, bonds: Bonds, chemistry: Chemistry, graph: int) -> Any | None:
    """The molecule of a graph from its SMILES if that has the same atoms and bonds, else from the graph itself.

    None if it is too large to be drawn.
    """
    from rdkit import rdBase

    store = dataset.store
    if not 0 < store.node_counts[graph] <= MOST_ATOMS:
        return None
    own = bonds.of(graph)
    pairs = np.stack([bonds.one[own], bonds.other[own]], axis=1)
    elements = chemistry.element[store.node_ptr[graph] : store.node_ptr[graph + 1]]
    with rdBase.BlockLogs():
        text = None if dataset.smiles is None else dataset.smiles[graph]
        written = None if text is None else parse(text)
        if written is not None and text is not None:
            for candidate in (in_canonical_order(written, text), written):
                if _is_same(candidate, elements, pairs):
                    return candidate
        return _built(chemistry, store.node_ptr[graph], elements, pairs, chemistry.kind[bonds.forth[own]])


def bond_numbers(molecule: Any, pairs: np.ndarray) -> list[int]:
    """The molecule's own number of each bond that is given by its ends."""
    return [int(molecule.GetBondBetweenAtoms(int(a), int(b)).GetIdx()) for a, b in pairs]


def _is_same(molecule: Any, elements: np.ndarray, pairs: np.ndarray) -> bool:
    if molecule.GetNumAtoms() != len(elements) or molecule.GetNumBonds() != len(pairs):
        return False
    found = {frozenset((bond.GetBeginAtomIdx(), bond.GetEndAtomIdx())) for bond in molecule.GetBonds()}
    atoms = [atom.GetAtomicNum() for atom in molecule.GetAtoms()]
    return atoms == elements.tolist() and found == {frozenset(map(int, pair)) for pair in pairs}


def _built(chemistry: Chemistry, first: int, elements: np.ndarray, pairs: np.ndarray, kinds: np.ndarray) -> Any:
    """A molecule with what the graph says; RDKit checks nothing, because old data holds strange valences."""
    from rdkit import Chem

    types = [Chem.BondType.names.get(name.upper(), Chem.BondType.UNSPECIFIED) for name in BOND_KINDS]
    made = Chem.RWMol()
    for place, element in enumerate(elements):
        atom = Chem.Atom(int(element))
        if chemistry.charge is not None:
            atom.SetFormalCharge(int(chemistry.charge[first + place]))
        if chemistry.hydrogens is not None:
            atom.SetNumExplicitHs(int(chemistry.hydrogens[first + place]))
        atom.SetNoImplicit(True)
        made.AddAtom(atom)
    for (a, b), kind in zip(pairs, kinds):
        made.AddBond(int(a), int(b), types[kind])
        if BOND_KINDS[kind] == "aromatic":
            made.GetBondBetweenAtoms(int(a), int(b)).SetIsAromatic(True)
            made.GetAtomWithIdx(int(a)).SetIsAromatic(True)
            made.GetAtomWithIdx(int(b)).SetIsAromatic(True)
    molecule = made.GetMol()
    molecule.UpdatePropertyCache(strict=False)
    Chem.FastFindRings(molecule)
    return molecule
