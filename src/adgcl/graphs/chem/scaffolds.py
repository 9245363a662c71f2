"""Bemis-Murcko scaffolds of molecules given as SMILES."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from adgcl.jobs.chunks import map_chunks

# RDKit's decomposition fills a table of the shortest paths between all atoms, in time that grows with the cube
# of their number: 10 ms for 200 atoms, one second for 800, eight minutes for a chain of 5,900, and Ctrl-C does
# not stop it. Molecules of more atoms than this are decomposed here, to the same scaffold, in time that grows
# with their size; ordinary molecules are left to RDKit, which is quicker for them.
LARGE = 200


def scaffolds(
    smiles: Sequence[str], workers: int | None = None, progress: Callable[[int, int], None] | None = None
) -> list[str | None]:
    """The scaffold of each molecule as SMILES with chirality; None if the text is not a SMILES."""
    found: list[str | None] = []
    for _, part in map_chunks(_scaffolds_of_chunk, smiles, workers):
        found += part
        if progress is not None:
            progress(len(found), len(smiles))
    return found


def scaffold_of(smiles: str) -> str | None:
    """The Bemis-Murcko scaffold of a molecule as SMILES with chirality ('' if no rings); None if unreadable.

    A molecule that this RDKit rejects for its valences is read with that check switched off: releases differ
    in what they reject, and the scaffold does not depend on it.
    """
    from rdkit import Chem

    molecule = _read(smiles)
    if molecule is None:
        return None
    # RDKit's MurckoScaffoldSmiles step by step, except for `strict=False`: it would reject what we accept.
    large = molecule.GetNumAtoms() > LARGE
    scaffold = _decompose_large(molecule) if large else Chem.MurckoDecompose(molecule)
    scaffold.ClearComputedProps()
    scaffold.UpdatePropertyCache(strict=False)
    Chem.GetSymmSSSR(scaffold)
    return str(Chem.MolToSmiles(scaffold, True))


def _scaffolds_of_chunk(smiles: Sequence[str]) -> list[str | None]:
    from rdkit import rdBase

    with rdBase.BlockLogs():
        return [scaffold_of(text) for text in smiles]


def _read(smiles: Any) -> Any:
    from rdkit import Chem

    if not isinstance(smiles, str):
        return None
    molecule = Chem.MolFromSmiles(smiles)
    if molecule is not None:
        return molecule
    molecule = Chem.MolFromSmiles(smiles, sanitize=False)
    if molecule is None:
        return None
    molecule.UpdatePropertyCache(strict=False)
    all_but_valence = Chem.SanitizeFlags.SANITIZE_ALL ^ Chem.SanitizeFlags.SANITIZE_PROPERTIES
    failed = Chem.SanitizeMol(molecule, all_but_valence, catchErrors=True)
    return None if failed else molecule


def _decompose_large(molecule: Any) -> Any:
    """What `Chem.MurckoDecompose` returns, without a table of all pairs of atoms.

    It keeps rings, the chains that join them, and what is attached to either by a double bond.
    """
    from rdkit import Chem

    core = _rings_and_linkers(molecule)
    if core is None:  # such molecules are rare, and rarer still large
        return Chem.MurckoDecompose(molecule)
    scaffold = Chem.RWMol(molecule)
    kept = set(core)
    for bond in scaffold.GetBonds():
        inner, outer = bond.GetBeginAtom(), bond.GetEndAtom()
        if outer.GetIdx() in core:
            inner, outer = outer, inner
        if inner.GetIdx() in core and outer.GetIdx() not in core:
            if bond.GetBondType() == Chem.BondType.DOUBLE:
                kept.add(outer.GetIdx())
            else:
                _cut_substituent(inner)
    scaffold.BeginBatchEdit()
    for index in range(scaffold.GetNumAtoms()):
        if index not in kept:
            scaffold.RemoveAtom(index)
    scaffold.CommitBatchEdit()
    return scaffold


def _cut_substituent(atom: Any) -> None:
    """Let hydrogen take the place of a substituent, by RDKit's own rules: only then are scaffolds the same."""
    from rdkit import Chem

    if atom.GetIsAromatic() and (atom.GetAtomicNum() != 6 or atom.GetFormalCharge() == 1):
        atom.SetNumExplicitHs(1)
    elif atom.GetNoImplicit() or atom.GetChiralTag() != Chem.ChiralType.CHI_UNSPECIFIED:
        atom.SetNoImplicit(False)
        atom.SetNumExplicitHs(0)
        atom.SetChiralTag(Chem.ChiralType.CHI_UNSPECIFIED)


def _rings_and_linkers(molecule: Any) -> set[int] | None:
    """The atoms of rings and those on the paths from ring to ring; None if there is a choice of paths.

    There hardly ever is one, since atoms on two ways from ring to ring are in a ring themselves. But RDKit does
    not follow dative bonds to find rings, and does follow them to find the shortest of the paths, which it keeps.
    """
    from scipy.cluster.hierarchy import DisjointSet

    rings = {index for ring in molecule.GetRingInfo().AtomRings() for index in ring}
    if not rings:
        return set()
    bonds = [(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in molecule.GetBonds()]
    inside = [bond for bond in bonds if rings.issuperset(bond)]
    outside = [bond for bond in bonds if not rings.issuperset(bond)]
    connected = DisjointSet(range(molecule.GetNumAtoms()))
    for bond in inside:
        connected.merge(*bond)
    if not all(connected.merge(*bond) for bond in outside):
        return None

    # What is outside of rings is trees, then: all that is left once loose ends are removed, again and again,
    # joins rings.
    neighbours: list[set[int]] = [set() for _ in range(molecule.GetNumAtoms())]
    for begin, end in outside:
        neighbours[begin].add(end)
        neighbours[end].add(begin)
    core = set(range(molecule.GetNumAtoms()))
    loose = [index for index in core - rings if len(neighbours[index]) < 2]
    while loose:
        end = loose.pop()
        core.remove(end)
        for index in neighbours[end]:
            neighbours[index].remove(end)
            if index not in rings and len(neighbours[index]) == 1:
                loose.append(index)
    return core
