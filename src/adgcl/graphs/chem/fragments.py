"""Salts and mixtures: molecules of several fragments, and the largest of them."""

from __future__ import annotations

from typing import Any


def is_mixture(molecule: Any, text: str) -> bool:
    """Whether the molecule read from `text` has several fragments (a salt, a solvate, a mixture)."""
    from rdkit import Chem

    # Fragments are always separated by a dot, but a dot may also be in a title, or between two ends of a ring bond.
    return "." in text and len(Chem.GetMolFrags(molecule)) > 1


def largest_fragment(molecule: Any) -> str:
    """The canonical SMILES of the fragment with most heavy atoms; ties go to the heaviest, then the first by name."""
    from rdkit import Chem
    from rdkit.Chem.rdMolDescriptors import CalcExactMolWt

    parts = Chem.GetMolFrags(molecule, asMols=True, sanitizeFrags=False)
    # Masses of isomers differ by rounding, depending on the order in which atoms are summed.
    ranked = min((-p.GetNumHeavyAtoms(), -round(CalcExactMolWt(p), 4), Chem.MolToSmiles(p)) for p in parts)
    return ranked[2]
