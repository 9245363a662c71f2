"""One chunk of SMILES as packed graphs: parsed by RDKit, decoded and numbered all together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from adgcl.core.schema import FeatureSpec
from adgcl.graphs.chem.atoms import encode, feature_spec
from adgcl.graphs.chem.rdkit_atoms import binary_is_understood, describe
from adgcl.graphs.chem.rdkit_binary import RawMolecules, decode
from adgcl.graphs.store.concat import concatenate
from adgcl.graphs.store.ranges import IntArray
from adgcl.graphs.store.store import GraphStore, pack


@dataclass(frozen=True)
class Failure:
    """A SMILES that could not become a graph: its position in the input (from 0), its text and why."""

    position: int
    smiles: str
    reason: str


@dataclass(frozen=True)
class Converted:
    """One chunk's graphs (None if it has none), their positions within the chunk, and its failures."""

    store: GraphStore | None
    kept: IntArray
    failures: tuple[Failure, ...]


def convert(smiles: Sequence[Any], features: str) -> Converted:
    """One chunk of SMILES as packed graphs."""
    from rdkit import Chem, rdBase

    binaries, kept, failures = [], [], []
    with rdBase.BlockLogs():
        for position, text in enumerate(smiles):
            try:
                molecule = Chem.MolFromSmiles(text)
            except Exception:  # not a string, or a C++ exception, which can arrive as any Python type
                molecule = None
            if molecule is not None and molecule.GetNumAtoms():
                binaries.append(molecule.ToBinary())
                kept.append(position)
            else:
                failures.append(Failure(position, "" if text is None else str(text), _reason(text)))
    store = _packed(binaries, features) if binaries else None
    return Converted(store, np.array(kept, dtype=np.int64), tuple(failures))


def _packed(binaries: Sequence[bytes], features: str) -> GraphStore:
    spec = feature_spec(features)
    if not binary_is_understood():
        return _pack_raw(describe(binaries), spec)
    raw, plain = decode(binaries)
    if plain.all():
        return _pack_raw(raw, spec)
    others = _pack_raw(
        describe([binary for binary, is_plain in zip(binaries, plain, strict=True) if not is_plain]), spec
    )
    both = concatenate([_pack_raw(raw, spec), others]) if plain.any() else others
    place = np.concatenate([np.flatnonzero(plain), np.flatnonzero(~plain)])
    return both.select(np.argsort(place))


def _pack_raw(raw: RawMolecules, spec: FeatureSpec) -> GraphStore:
    x, bond_codes = encode(raw, spec.name)
    begin, end = raw.bonds["begin"], raw.bonds["end"]
    both_ways = np.stack([np.stack([begin, end], axis=1).ravel(), np.stack([end, begin], axis=1).ravel()])
    return pack(
        raw.node_counts,
        2 * raw.bond_counts,
        both_ways,
        x=x,
        edge_attr=np.repeat(bond_codes, 2, axis=0),
        spec=spec,
    )


def _reason(text: Any) -> str:
    """Why RDKit would not read this, in its own words."""
    from rdkit import Chem

    if text is None or str(text) in ("nan", "<NA>", "NaT"):
        return "missing"
    if not isinstance(text, str):
        return f"not text but {type(text).__name__}"
    if not text.strip():
        return "empty"
    try:
        molecule = Chem.MolFromSmiles(text, sanitize=False)
        problems = [] if molecule is None else [p.Message() for p in Chem.DetectChemistryProblems(molecule)]
    except Exception as error:  # rare: C++ exceptions that RDKit does not turn into a message
        return str(error) or type(error).__name__
    if molecule is None:
        return _syntax_error(text)
    return problems[0] if problems else "no atoms" if not molecule.GetNumAtoms() else "RDKit cannot read it"


def _syntax_error(text: str) -> str:
    """What RDKit's log says of a text that does not follow SMILES grammar."""
    from rdkit import Chem, rdBase

    if not hasattr(rdBase, "CaptureErrorLog"):  # before 2024
        return "not a SMILES"
    with rdBase.CaptureErrorLog() as captured:
        Chem.MolFromSmiles(text, sanitize=False)
    lines = [line.partition("] ")[2].strip() for line in captured.messages.splitlines()]
    told = [line.removeprefix("SMILES Parse Error: ").partition(" for input:")[0] for line in lines]
    useful = [line for line in told if line.strip("~^") and line != text.strip()]
    if len(useful) > 1 and useful[1].startswith("check for mistakes"):
        return f"syntax error around position {useful[1].rstrip(':').rpartition(' ')[2]}"
    return useful[0] if useful else "not a SMILES"
