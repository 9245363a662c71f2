"""Bemis-Murcko scaffolds of molecules given as SMILES."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from adgcl.jobs.chunks import map_chunks


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
    scaffold = Chem.MurckoDecompose(molecule)
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
