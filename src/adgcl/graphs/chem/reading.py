"""One SMILES, or one RDKit Mol, as one RDKit molecule: the same however it was written.

RDKit says which way round a stereocentre or a double bond is relative to the order in which its neighbours were
written, so two spellings of one molecule have different codes. A molecule with stereochemistry is therefore read twice:
as it was written, and then from its canonical SMILES, whose order depends on the molecule alone. Everything else that
becomes a feature is a property of the molecule whatever its order, so a SMILES without stereochemistry is read once.

RDKit's canonical SMILES is not perfect. Of 22,000 molecules with stereochemistry, each written in five random ways, one
had two canonical SMILES (a hexachlorocyclohexane), and the graphs of the two are the same. The only graphs found to
differ are those of a methyladamantane whose SMILES marks centres that it does not have.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Any

# Tetrahedral and other centres, double bonds, and extensions (after a blank), which can also mark stereochemistry.
# The parser sets no chiral tag, bond direction or bond stereo without one of these characters.
_MAY_HAVE_STEREO = re.compile(r"[@/\\|]").search

# The time RDKit takes grows with the square or the cube of the length, and nothing can stop it. This is enough for an
# oligonucleotide drug or a protein of 400 residues; at this length the worst found, one ring of all atoms, takes 3
# seconds, at 10,000 characters 16, and a line of a million would not end.
MAX_LENGTH = 6_000


def as_smiles(item: Any) -> Any:
    """The SMILES of an RDKit Mol; anything else as it is."""
    from rdkit import Chem

    if not isinstance(item, Chem.Mol):
        return item
    try:
        if item.NeedsUpdatePropertyCache():  # built or edited in code, and not sanitised since
            item = Chem.Mol(item)
            item.UpdatePropertyCache(strict=False)
        if item.GetNumHeavyAtoms() < item.GetNumAtoms():
            # Explicit hydrogens can make a double bond in a ring lose its geometry when the SMILES is read.
            item = Chem.RemoveHs(item, sanitize=False)
        return Chem.MolToSmiles(item)
    except Exception:  # C++ exceptions can arrive as any Python type; the row is reported as unreadable
        return item


def all_as_smiles(items: Iterable[Any]) -> list[Any]:
    """`as_smiles` of each, without RDKit's log messages."""
    from rdkit import rdBase

    with rdBase.BlockLogs():
        return [as_smiles(item) for item in items]


def parse(text: Any) -> Any:
    """The molecule of a SMILES as it was written; None if there is none (`why_unreadable` says why)."""
    return None if not isinstance(text, str) or refusal(text) is not None else _from_smiles(text)


def in_canonical_order(molecule: Any, text: str) -> Any:
    """The molecule that `parse` made of `text`, read again from its canonical SMILES if the order may matter."""
    if not _MAY_HAVE_STEREO(text):
        return molecule
    canonical = as_smiles(molecule)
    if canonical == text or not isinstance(canonical, str):
        return molecule  # many public sets are canonical already: reading again would give the same
    again = _from_smiles(canonical, _once_more())
    return molecule if again is None else again


def _from_smiles(text: str, *how: Any) -> Any:
    from rdkit import Chem

    try:
        molecule: Any = Chem.MolFromSmiles(text, *how)
    except Exception:  # C++ exceptions can arrive as any Python type
        return None
    return molecule if molecule is not None and molecule.GetNumAtoms() else None


@cache
def _once_more() -> Any:
    """How to read the canonical SMILES of a molecule: what the first reading removed need not be searched for."""
    from rdkit import Chem

    how: Any = Chem.SmilesParserParams()
    how.removeHs, how.allowCXSMILES, how.parseName = False, False, False
    return how


def refusal(text: str) -> str | None:
    """Why a text is not passed to RDKit at all; None if it is."""
    if text.isascii() and len(text) <= MAX_LENGTH:
        return None
    smiles = (text.split(maxsplit=1) or [""])[0]  # text after a space is a title
    if len(smiles) > MAX_LENGTH:
        return f"longer than {MAX_LENGTH:,} characters"
    # RDKit would treat a typographic dash or quotation mark as the end of the text.
    odd = next((place for place, character in enumerate(smiles) if not character.isascii()), None)
    return None if odd is None else f"{smiles[odd]!r} at position {odd + 1} is not a SMILES character"
