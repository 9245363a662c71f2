"""Atoms, bonds and rings of an RDKit molecule, queried one by one: slow, but correct for every molecule."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from adgcl.graphs.chem.rdkit_binary import RawMolecules, decode

_ATOMS = (
    "atomic_num",
    "aromatic",
    "charge",
    "chirality",
    "hybridisation",
    "radicals",
    "num_hs",
    "degree",
    "in_ring",
)
_BONDS = ("begin", "end", "conjugated", "type", "direction", "stereo")

# Charges, radicals, isotopes, bracket hydrogens, chirality, double-bond stereo, rings, fragments, metals.
_PROBES = (
    "C", "[Na+].[Cl-]", "[13CH3][C@@H](N)C(=O)O", "F/C=C/c1ccc2[nH]ccc2c1", "[CH2]C#N", "C1CC2CCC1CC2",
    "O=S(=O)([O-])c1ccccc1", "FS(F)(F)(F)(F)F", "[Fe+2]", "C[N+](C)(C)C", "[2H]OC", "F[P@](Cl)Br",
    "C/C=C\\C", "CP(=O)(Cl)OC",
)  # fmt: skip


def describe(binaries: Sequence[bytes]) -> RawMolecules:
    """What RDKit knows of these molecules (given in its binary form), through its public interface."""
    from rdkit import Chem

    molecules: list[Any] = [Chem.Mol(binary) for binary in binaries]  # type: ignore[call-overload]
    atoms = [_atom(atom) for molecule in molecules for atom in molecule.GetAtoms()]
    bonds = [_bond(bond) for molecule in molecules for bond in molecule.GetBonds()]
    atom_table = np.array(atoms, dtype=np.int64).reshape(-1, len(_ATOMS)).astype(np.uint8)
    bond_table = np.array(bonds, dtype=np.int64).reshape(-1, len(_BONDS))
    return RawMolecules(
        node_counts=np.array([m.GetNumAtoms() for m in molecules], dtype=np.int64),
        bond_counts=np.array([m.GetNumBonds() for m in molecules], dtype=np.int64),
        atoms=dict(zip(_ATOMS, atom_table.T, strict=True)),
        bonds=dict(zip(_BONDS, bond_table.T, strict=True)),
    )


@cache
def binary_is_understood() -> bool:
    """Whether this RDKit writes the binary form we decode: tested once on molecules that use all of it."""
    from rdkit import Chem

    binaries = [Chem.MolFromSmiles(smiles).ToBinary() for smiles in _PROBES]
    try:
        decoded, plain = decode(binaries)
    except IndexError:
        return False
    return bool(plain.all()) and _same(decoded, describe(binaries))


def _same(first: RawMolecules, second: RawMolecules) -> bool:
    pairs: list[tuple[Any, Any]] = [
        (first.node_counts, second.node_counts),
        (first.bond_counts, second.bond_counts),
    ]
    pairs += [(first.atoms[name], column) for name, column in second.atoms.items()]
    pairs += [(first.bonds[name], column) for name, column in second.bonds.items()]
    return all(np.array_equal(one, other) for one, other in pairs)


def _atom(atom: Any) -> tuple[int, ...]:
    return (
        atom.GetAtomicNum(),
        atom.GetIsAromatic(),
        atom.GetFormalCharge(),
        int(atom.GetChiralTag()),
        int(atom.GetHybridization()),
        atom.GetNumRadicalElectrons(),
        atom.GetTotalNumHs(),
        atom.GetDegree(),
        atom.IsInRing(),
    )


def _bond(bond: Any) -> tuple[int, ...]:
    return (
        bond.GetBeginAtomIdx(),
        bond.GetEndAtomIdx(),
        bond.GetIsConjugated(),
        int(bond.GetBondType()),
        int(bond.GetBondDir()),
        int(bond.GetStereo()),
    )
