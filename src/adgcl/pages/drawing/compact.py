"""Compact drawings: the picture of a graph in some 150 bytes, which the page's script draws when it is wanted.

A picture is `nodes, edges, step, kind`, then `x, y, label` for each node and `from, to, order` for each edge, a byte
each. Coordinates count steps of `step` hundredths of a bond's length. `label` is a place in a table of texts (0: none);
orders 2 and 3 are double and triple bonds, 4 and 5 double bonds whose second line is on the left or on the right.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from adgcl.core.progress import Count
from adgcl.data.dataset import Dataset
from adgcl.graphs.chem.reading import parse
from adgcl.insight.bonds import find_bonds
from adgcl.insight.chemistry import chemistry_of
from adgcl.jobs.chunks import map_chunks
from adgcl.pages.drawing.molecule import molecule_of
from adgcl.pages.drawing.stress import stress_layout

_MOST = 120  # nodes or edges of a picture
_NOTHING = bytes(4)
_MOLECULE, _GRAPH = 0, 1
_BOND_LENGTH = 1.5  # of RDKit's layouts
_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_SUPERSCRIPTS = str.maketrans("0123456789+-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻")


def compact_pictures(dataset: Dataset, progress: Count | None = None) -> tuple[list[bytes], list[str]]:
    """The pictures of all graphs (empty ones for graphs that are too large), and the table of their labels."""
    found: list[tuple[bytes, list[str]]] = []
    if dataset.smiles is not None:
        for _, part in map_chunks(_of_smiles, list(dataset.smiles)):
            found += part
            if progress is not None:
                progress(len(found), len(dataset))
    else:
        found = _of_graphs(dataset, progress)
    return _with_one_table(found)


def _of_smiles(smiles: Sequence[str]) -> list[tuple[bytes, list[str]]]:
    from rdkit import rdBase

    with rdBase.BlockLogs():
        return [_of_molecule(parse(text)) for text in smiles]


def _of_graphs(dataset: Dataset, progress: Count | None) -> list[tuple[bytes, list[str]]]:
    store, bonds, chemistry = dataset.store, find_bonds(dataset.store), chemistry_of(dataset)
    found: list[tuple[bytes, list[str]]] = []
    for graph in range(len(dataset)):
        nodes, own = int(store.node_counts[graph]), bonds.of(graph)
        if not 0 < nodes <= _MOST or own.stop - own.start > 255:
            found.append((_NOTHING, []))
        elif chemistry is not None:
            found.append(_of_molecule(molecule_of(dataset, bonds, chemistry, graph)))
        else:
            pairs = np.stack([bonds.one[own], bonds.other[own]], axis=1)
            plain = np.column_stack([pairs, np.ones(len(pairs), dtype=np.int64)])
            found.append((_packed(stress_layout(nodes, pairs), [0] * nodes, plain, _GRAPH), []))
        if progress is not None and graph % 256 == 255:
            progress(graph + 1, len(dataset))
    return found


def _of_molecule(molecule: Any) -> tuple[bytes, list[str]]:
    from rdkit import Chem
    from rdkit.Chem import rdDepictor

    if molecule is None or not 0 < molecule.GetNumAtoms() <= _MOST or molecule.GetNumBonds() > 255:
        return _NOTHING, []
    with suppress(Exception):  # C++ exceptions can arrive as any Python type
        Chem.Kekulize(molecule, clearAromaticFlags=True)
    rdDepictor.Compute2DCoords(molecule)
    places = molecule.GetConformer().GetPositions()[:, :2] / _BOND_LENGTH * (1, -1)
    labels = [_label(atom) for atom in molecule.GetAtoms()]
    table = sorted(set(labels) - {""})
    codes = [table.index(label) + 1 if label else 0 for label in labels]
    bonds = np.array([_bond(bond, places) for bond in molecule.GetBonds()], dtype=np.int64).reshape(-1, 3)
    return _packed(places, codes, bonds, _MOLECULE), table


def _label(atom: Any) -> str:
    """What stands at an atom: `O|H` is an O with an H on the side that has room; nothing for most carbons."""
    charge, hydrogens = atom.GetFormalCharge(), atom.GetTotalNumHs()
    if atom.GetAtomicNum() == 6 and not charge and atom.GetDegree() and not atom.GetIsotope():
        return ""
    sign = "" if not charge else ("" if abs(charge) == 1 else str(abs(charge))) + ("+" if charge > 0 else "-")
    isotope = str(atom.GetIsotope() or "").translate(_SUPERSCRIPTS)
    main = f"{isotope}{atom.GetSymbol()}{sign.translate(_SUPERSCRIPTS)}"
    count = "" if hydrogens == 1 else str(hydrogens).translate(_SUBSCRIPTS)
    return f"{main}|H{count}" if hydrogens else main


def _bond(bond: Any, places: np.ndarray) -> tuple[int, int, int]:
    one, other = bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()
    order = {"DOUBLE": 2, "TRIPLE": 3, "AROMATIC": 2}.get(str(bond.GetBondType()), 1)
    if order == 2 and bond.IsInRing():
        # The second line lies inside the ring, which is where the other neighbours are.
        ends = (bond.GetBeginAtom(), bond.GetEndAtom())
        near = [atom.GetIdx() for end in ends for atom in end.GetNeighbors() if atom.IsInRing()]
        inside = places[near].mean(axis=0) - places[one]
        along = places[other] - places[one]
        order = 4 if along[0] * inside[1] - along[1] * inside[0] > 0 else 5
    return one, other, order


def _packed(places: np.ndarray, labels: Sequence[int], edges: np.ndarray, kind: int) -> bytes:
    low = places.min(axis=0)
    span = float((places - low).max(initial=0.0))
    step = min(max(int(np.ceil(100 * span / 255)), 1), 255)
    spots = np.minimum(np.rint((places - low) * 100 / step), 255)
    nodes = np.column_stack([spots, np.minimum(labels, 255)])
    head = bytes([len(places), len(edges), step, kind])
    return head + nodes.astype(np.uint8).tobytes() + edges.astype(np.uint8).tobytes()


def _with_one_table(found: list[tuple[bytes, list[str]]]) -> tuple[list[bytes], list[str]]:
    """All pictures with places in one table of labels, the commonest first; the 256th and later ones are left out."""
    counts: dict[str, int] = {}
    for _, table in found:
        for label in table:
            counts[label] = counts.get(label, 0) + 1
    every = sorted(counts, key=lambda label: (-counts[label], label))[:255]
    place = {label: number + 1 for number, label in enumerate(every)}
    pictures = []
    for content, table in found:
        if table:
            own = np.array([0, *(place.get(label, 0) for label in table)], dtype=np.uint8)
            data = np.frombuffer(content, dtype=np.uint8).copy()
            end = 4 + 3 * int(data[0])
            data[6:end:3] = own[data[6:end:3]]
            content = data.tobytes()
        pictures.append(content)
    return pictures, every
