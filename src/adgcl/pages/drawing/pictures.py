"""Pictures of the graphs of a data set, whatever they are: a molecule by RDKit, any other graph by its layout."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from adgcl.data.dataset import Dataset
from adgcl.insight.bonds import Bonds
from adgcl.insight.chemistry import Chemistry
from adgcl.pages.drawing.graph_svg import MOST_NODES, draw_graph
from adgcl.pages.drawing.marks import Mark
from adgcl.pages.drawing.molecule import bond_numbers, molecule_of
from adgcl.pages.drawing.rdkit_svg import draw_molecule


class Pictures:
    """Draws graphs of one data set with marks on their bonds."""

    def __init__(self, dataset: Dataset, bonds: Bonds, chemistry: Chemistry | None) -> None:
        self.dataset, self.bonds, self.chemistry = dataset, bonds, chemistry
        self._molecule = lru_cache(maxsize=256)(self._find_molecule)

    def draw(self, graph: int, marks: Sequence[Mark], label: str, width: int = 240, height: int = 170) -> str:
        """An SVG of a graph with a mark for each of its bonds; a text where it is too large to be drawn."""
        pairs = self.pairs(graph)
        molecule = self._molecule(graph)
        if molecule is not None:
            numbered = dict(zip(bond_numbers(molecule, pairs), marks))
            return draw_molecule(molecule, label, numbered, width, height)
        store = self.dataset.store
        nodes = int(store.node_counts[graph])
        if nodes > MOST_NODES or not nodes:
            return f'<p class="soft">{nodes:,} nodes: too many to draw</p>' if nodes else '<p class="soft">no nodes</p>'
        codes: Sequence[int] = ()
        if store.x is not None:
            codes = np.asarray(store.x)[store.node_ptr[graph] : store.node_ptr[graph + 1], 0].astype(int).tolist()
        return draw_graph(nodes, pairs, label, marks, codes, width, height)

    def around(self, bond: int, mark: Mark, label: str) -> str:
        """A bond with its neighbours and theirs, cut out of its graph, as an SVG."""
        graph = int(self.bonds.graph[bond])
        pairs = self.pairs(graph)
        here = bond - int(self.bonds.ptr[graph])
        kept = np.isin(pairs, pairs[here]).any(axis=1)
        nodes = np.unique(pairs[kept])
        inside = np.isin(pairs, nodes).all(axis=1)
        molecule = self._molecule(graph)
        if molecule is not None:
            fragment, number = _cut(molecule, nodes.tolist(), pairs[here])
            return draw_molecule(fragment, label, {number: mark}, 130, 100)
        local = np.searchsorted(nodes, pairs[inside])
        quiet = Mark(25, 25, "")
        marks = [mark if place == here else quiet for place in np.flatnonzero(inside)]
        return draw_graph(len(nodes), local, label, marks, (), 130, 100)

    def pairs(self, graph: int) -> np.ndarray:
        """The ends of a graph's bonds."""
        own = self.bonds.of(graph)
        return np.stack([self.bonds.one[own], self.bonds.other[own]], axis=1)

    def _find_molecule(self, graph: int) -> Any | None:
        if self.chemistry is None:
            return None
        return molecule_of(self.dataset, self.bonds, self.chemistry, graph)


def _cut(molecule: Any, atoms: list[int], ends: np.ndarray) -> tuple[Any, int]:
    """The part of a molecule with these atoms, and the number of the bond between `ends` in it."""
    from rdkit import Chem

    made = Chem.RWMol(molecule)
    for atom in made.GetAtoms():
        atom.SetIntProp("was", atom.GetIdx())
    made.BeginBatchEdit()
    for index in set(range(molecule.GetNumAtoms())) - set(atoms):
        made.RemoveAtom(index)
    made.CommitBatchEdit()
    place = {atom.GetIntProp("was"): atom.GetIdx() for atom in made.GetAtoms()}
    fragment = made.GetMol()
    # What was cut off is not hydrogen: the atoms at the rim get none for it.
    for atom in fragment.GetAtoms():
        if atom.GetDegree() < molecule.GetAtomWithIdx(atom.GetIntProp("was")).GetDegree():
            atom.SetNoImplicit(True)
    fragment.UpdatePropertyCache(strict=False)
    Chem.FastFindRings(fragment)
    bond = fragment.GetBondBetweenAtoms(place[int(ends[0])], place[int(ends[1])])
    return fragment, int(bond.GetIdx())
