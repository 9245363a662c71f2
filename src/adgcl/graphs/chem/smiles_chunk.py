"""One chunk of SMILES as packed graphs: parsed by RDKit, decoded and numbered all together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from adgcl.core.schema import FeatureSpec
from adgcl.graphs.chem.atoms import encode, feature_spec
from adgcl.graphs.chem.fragments import is_mixture, largest_fragment
from adgcl.graphs.chem.rdkit_atoms import binary_is_understood, describe
from adgcl.graphs.chem.rdkit_binary import RawMolecules, decode
from adgcl.graphs.chem.reading import as_smiles, in_canonical_order, parse
from adgcl.graphs.chem.unreadable import Failure
from adgcl.graphs.store.concat import concatenate
from adgcl.graphs.store.ranges import IntArray
from adgcl.graphs.store.store import GraphStore, pack


@dataclass(frozen=True)
class Converted:
    """One chunk's graphs (None if it has none), their positions within the chunk, and its failures.

    `mixtures` counts molecules of several fragments; `fragments` has the SMILES of those that were cut, by position.
    """

    store: GraphStore | None
    kept: IntArray
    failures: tuple[Failure, ...]
    mixtures: int
    fragments: dict[int, str]


def convert(smiles: Sequence[Any], features: str, keep_largest_fragment: bool = False) -> Converted:
    """One chunk of SMILES or RDKit Mols as packed graphs."""
    from rdkit import rdBase

    binaries, kept, failures, mixtures = [], [], [], 0
    fragments: dict[int, str] = {}
    with rdBase.BlockLogs():
        for position, item in enumerate(smiles):
            text = as_smiles(item)
            molecule = parse(text)
            if molecule is not None and is_mixture(molecule, text):
                mixtures += 1
                if keep_largest_fragment:
                    text = fragments[position] = largest_fragment(molecule)
                    molecule = parse(text)
            if molecule is None:
                failures.append(Failure.of(position, text))
                continue
            binaries.append(in_canonical_order(molecule, text).ToBinary())
            kept.append(position)
    store = _packed(binaries, features) if binaries else None
    return Converted(store, np.array(kept, dtype=np.int64), tuple(failures), mixtures, fragments)


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
