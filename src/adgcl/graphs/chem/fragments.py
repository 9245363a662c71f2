"""Salts and mixtures: molecules of several fragments, and the largest of them."""

from __future__ import annotations

from typing import Any


def is_mixture(molecule: Any, text: str) -> bool:
    """Whether the molecule read from `text` falls into several fragments (a salt, a solvate, a mixture)."""
    from rdkit import Chem

    # A dot is the only way to write them, but it may also stand in a title, or between two ends of a ring bond.
    return "." in text and len(Chem.GetMolFrags(molecule)) > 1


def largest_fragment(molecule: Any) -> str:
    """The canonical SMILES of the fragment with most heavy atoms; of equals the heaviest, then the first by name."""
    from rdkit import Chem
    from rdkit.Chem.rdMolDescriptors import CalcExactMolWt

    parts = Chem.GetMolFrags(molecule, asMols=True, sanitizeFrags=False)
    # Masses of isomers differ by rounding, according to the order in which their atoms are added up.
    ranked = min((-p.GetNumHeavyAtoms(), -round(CalcExactMolWt(p), 4), Chem.MolToSmiles(p)) for p in parts)
    return ranked[2]
