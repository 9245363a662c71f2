"""Why a SMILES cannot be read, in RDKit's words if possible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from adgcl.graphs.chem.reading import refusal

_SHOWN = 60


@dataclass(frozen=True)
class Failure:
    """A SMILES that could not become a graph: its position in the input (from 0), its text and why."""

    position: int
    smiles: str
    reason: str

    @classmethod
    def of(cls, position: int, item: Any) -> Failure:
        """The failure of `item`, whatever it is."""
        reason = why_unreadable(item)
        text = "" if reason == "missing" else str(item)
        # Half a character (a lone surrogate) could not be written to any file later.
        return cls(position, text.encode("utf-8", "replace").decode("utf-8"), reason)


def shown(text: str) -> str:
    """A text in quotation marks, cut to a length that fits in a message."""
    return repr(text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "...")


def is_missing(item: Any) -> bool:
    """Whether this is a missing value: None, NaN, or pandas' equivalent."""
    return item is None or str(item) in ("nan", "<NA>", "NaT")


def why_unreadable(item: Any) -> str:
    """Why RDKit cannot read this."""
    from rdkit import Chem

    if is_missing(item):
        return "missing"
    if not isinstance(item, str):
        return f"not text but {type(item).__name__}"
    if not item.strip():
        return "empty"
    refused = refusal(item)
    if refused is not None:
        return refused
    # RDKit's log may cut text inside a multi-byte character; ASCII can be cut anywhere.
    text = item.encode("ascii", "replace").decode("ascii")
    try:
        molecule = Chem.MolFromSmiles(text, sanitize=False)
        problems = [] if molecule is None else [p.Message() for p in Chem.DetectChemistryProblems(molecule)]
    except Exception as error:  # rare: C++ exceptions that RDKit does not turn into a message
        return str(error) or type(error).__name__
    if molecule is None:
        return _syntax_error(text)
    return problems[0] if problems else "no atoms" if not molecule.GetNumAtoms() else "RDKit cannot read it"


def _syntax_error(text: str) -> str:
    """What RDKit's log says about text that is not valid SMILES."""
    from rdkit import Chem, rdBase

    if not hasattr(rdBase, "CaptureErrorLog"):  # before 2024
        return "not a SMILES"
    with rdBase.CaptureErrorLog() as captured:
        Chem.MolFromSmiles(text, sanitize=False)
    lines = [line.partition("] ")[2].strip() for line in captured.messages.splitlines()]
    messages = [line.removeprefix("SMILES Parse Error: ").partition(" for input:")[0] for line in lines]
    useful = [line for line in messages if line.strip("~^") and line != text.strip()]
    if len(useful) > 1 and useful[1].startswith("check for mistakes"):
        return f"syntax error around position {useful[1].rstrip(':').rpartition(' ')[2]}"
    return useful[0] if useful else "not a SMILES"
