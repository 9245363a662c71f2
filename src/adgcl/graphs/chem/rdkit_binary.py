"""Atoms, bonds and rings of many RDKit molecules at once, read from RDKit's own binary form.

Asking RDKit for one property of one atom costs a Python call; a drug-like molecule needs about 400 of them,
several times the cost of parsing its SMILES. `Mol.ToBinary()` writes the same facts in one call. Here the
binaries of a whole chunk are decoded together: record k of every molecule in one NumPy step. Molecules that
use rarer parts of the format (more than 255 atoms, atom maps, dummy labels, queries) are left to
`adgcl.graphs.chem.rdkit_atoms`, which asks atom by atom.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from adgcl.graphs.store.ranges import IntArray, concatenated_ranges, offsets

Bytes = npt.NDArray[np.uint8]
Length = Callable[[Bytes, IntArray], npt.NDArray[np.integer]]

# The format, as RDKit's MolPickler writes it (layout unchanged since version 13.2 of the format, 2022):
# a 20-byte header; int32 atoms; int32 bonds; a flag; the tag of the atoms; atom records; the tag of the
# bonds; bond records; the tag of the rings; uint32 rings; for each its size and its atoms.
_COUNTS_AT, _ATOMS_AT = 20, 30
_BONDS_TAG = 0x0B
_RING_TAGS = (0x14, 0x42)  # until 2024.03 all ring sets had the first; since then symmetrised ones the second
_PADDING = 512

# Atom record: atomic number, flags, int32 of presence bits, then one byte for each bit set (four for bit 8).
_ATOM_ODD_FLAGS = 0b1001_1110
_ATOM_OPTIONAL = (
    ("charge", 1, 0),
    ("chirality", 2, 0),
    ("hybridisation", 3, 4),
    ("explicit_hs", 4, 0),
    ("explicit_valence", 5, 0),
    ("implicit_hs", 6, 0),
    ("radicals", 7, 0),
)
# Bond record: begin, end, flags, then type, direction, stereo (with its reference atoms) where flagged.
_BOND_ODD_FLAGS = 0b1001_0001

_ATOM_LENGTH = np.array([6 + bin(value >> 1).count("1") for value in range(256)], dtype=np.uint8)
_BOND_LENGTH = np.array([3 + (value >> 3 & 1) + (value >> 2 & 1) for value in range(256)], dtype=np.uint8)


@dataclass(frozen=True)
class RawMolecules:
    """What RDKit knows of the atoms and bonds of some molecules, one after another, as its own numbers."""

    node_counts: IntArray
    bond_counts: IntArray
    atoms: dict[str, Bytes]
    bonds: dict[str, npt.NDArray[np.integer]]


class _Walk(NamedTuple):
    """Where the records of all molecules start, and where each molecule continues after its last one."""

    starts: IntArray
    after: IntArray
    stuck: npt.NDArray[np.bool_]


def decode(binaries: Sequence[bytes]) -> tuple[RawMolecules, npt.NDArray[np.bool_]]:
    """The facts of all molecules that can be decoded, in order, and a mask saying which those are."""
    joined = b"".join(binaries)
    data = np.frombuffer(joined + bytes(_PADDING), dtype=np.uint8)
    first = offsets(np.fromiter(map(len, binaries), dtype=np.int64, count=len(binaries)))[:-1]
    node_counts, bond_counts = _int32(data, first + _COUNTS_AT), _int32(data, first + _COUNTS_AT + 4)
    plain = node_counts < 256
    while True:
        picked = np.flatnonzero(plain)
        raw, bad = _decode_plain(data, first[picked], node_counts[picked], bond_counts[picked])
        if not bad.any():
            return raw, plain
        plain[picked[bad]] = False


def _decode_plain(
    data: Bytes, first: IntArray, nodes: IntArray, bonds: IntArray
) -> tuple[RawMolecules, npt.NDArray[np.bool_]]:
    """Decode molecules believed to be plain; the mask says which turned out not to be."""
    atom_walk = _walk(data, first + _ATOMS_AT, nodes, _atom_length)
    bond_walk = _walk(data, atom_walk.after + 1, bonds, _bond_length)
    bad = atom_walk.stuck | bond_walk.stuck
    bad |= (data[atom_walk.after] != _BONDS_TAG) | ~np.isin(data[bond_walk.after], _RING_TAGS)
    if bad.any():
        return RawMolecules(nodes, bonds, {}, {}), bad
    first_node = offsets(nodes)
    atom_fields, bond_fields = _read_atoms(data, atom_walk.starts), _read_bonds(data, bond_walk.starts)
    begin = bond_fields["begin"] + np.repeat(first_node[:-1], bonds)
    end = bond_fields["end"] + np.repeat(first_node[:-1], bonds)
    ends = np.concatenate([begin, end])
    atom_fields["degree"] = np.bincount(ends, minlength=int(first_node[-1])).astype(np.uint8)
    atom_fields["in_ring"] = _ring_members(data, bond_walk.after, first_node)
    return RawMolecules(nodes, bonds, atom_fields, bond_fields), bad


def _walk(data: Bytes, position: IntArray, counts: IntArray, length: Length) -> _Walk:
    """Follow records of varying length through all molecules side by side; a length of 0 means `unknown`."""
    order = np.argsort(-counts, kind="stable")
    where, left, slot = position[order], counts[order], offsets(counts)[:-1][order]
    starts = np.empty(int(counts.sum()), dtype=np.int64)
    stuck = np.zeros(len(counts), dtype=np.bool_)
    last = len(data) - _PADDING
    # Molecules are sorted by falling number of records, so those that still have a k-th one come first.
    active = np.searchsorted(-left, -np.arange(1, int(counts.max(initial=0)) + 1), side="right")
    for k, count in enumerate(active):
        here = where[:count]
        starts[slot[:count] + k] = here
        step = length(data, here)
        stuck[:count] |= step == 0
        where[:count] = np.minimum(here + step, last)
    after, is_stuck = np.empty_like(where), np.empty_like(stuck)
    after[order], is_stuck[order] = where, stuck
    return _Walk(starts, after, is_stuck)


def _atom_length(data: Bytes, at: IntArray) -> Bytes:
    bits, high = data[at + 2], data[at + 3]
    known = (data[at + 1] & _ATOM_ODD_FLAGS | bits & 1 | high & 0xFE) == 0
    return (_ATOM_LENGTH[bits] + 4 * high) * known


def _bond_length(data: Bytes, at: IntArray) -> Bytes:
    flags = data[at + 2]
    length = _BOND_LENGTH[flags]
    stereo = np.flatnonzero(flags & 2)
    if len(stereo):
        length[stereo] += 2 + data[at[stereo] + length[stereo] + 1]
    return length * (flags & _BOND_ODD_FLAGS == 0)


def _ring_length(data: Bytes, at: IntArray) -> IntArray:
    return data[at].astype(np.int64) + 1


def _read_atoms(data: Bytes, starts: IntArray) -> dict[str, Bytes]:
    bits, cursor = data[starts + 2], starts + 6
    fields: dict[str, Any] = {"atomic_num": data[starts], "aromatic": data[starts + 1] >> 6 & 1}
    for name, bit, default in _ATOM_OPTIONAL:
        present = bits >> bit & 1
        fields[name] = np.where(present, data[cursor], default).astype(np.uint8)
        cursor = cursor + present
    fields["num_hs"] = fields.pop("explicit_hs") + fields.pop("implicit_hs")
    del fields["explicit_valence"]
    return fields


def _read_bonds(data: Bytes, starts: IntArray) -> dict[str, npt.NDArray[np.integer]]:
    flags, cursor = data[starts + 2], starts + 3
    fields: dict[str, npt.NDArray[np.integer]] = {
        "begin": data[starts].astype(np.int64),
        "end": data[starts + 1].astype(np.int64),
        "conjugated": flags >> 5 & 1,
    }
    for name, bit, default in (("type", 3, 1), ("direction", 2, 0), ("stereo", 1, 0)):
        present = flags >> bit & 1
        fields[name] = np.where(present, data[cursor], default).astype(np.uint8)
        cursor = cursor + present
    return fields


def _ring_members(data: Bytes, position: IntArray, first_node: IntArray) -> Bytes:
    """1 for every atom that is in some ring."""
    counts = _int32(data, position + 1)
    member = np.zeros(int(first_node[-1]), dtype=np.uint8)
    rings = _walk(data, position + 5, counts, _ring_length).starts
    sizes = data[rings].astype(np.int64)
    ends = offsets(sizes)
    atoms = data[concatenated_ranges(rings + 1, ends)]
    shift = np.repeat(np.repeat(first_node[:-1], counts), sizes)
    member[atoms + shift] = 1
    return member


def _int32(data: Bytes, at: IntArray) -> IntArray:
    low, *high = (data[at + i].astype(np.int64) for i in range(4))
    return low + sum(byte << 8 * (i + 1) for i, byte in enumerate(high))
