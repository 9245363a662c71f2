"""Bonds, rings and traits: against NetworkX and RDKit."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from rdkit import Chem

from adgcl.data.load import load_dataset
from adgcl.graphs.store.store import pack
from adgcl.insight.bonds import find_bonds
from adgcl.insight.chemistry import chemistry_of
from adgcl.insight.rings import in_ring
from adgcl.insight.traits import traits_of
from tests.graph_cases import random_store
from tests.insight_cases import MOLECULES

DATASET = load_dataset(list(MOLECULES))


@pytest.mark.parametrize("directed", [False, True])
def test_every_edge_belongs_to_one_bond(directed: bool) -> None:
    store = random_store(20, directed=directed)
    bonds = find_bonds(store)
    assert sorted({*bonds.forth.tolist(), *bonds.back.tolist()}) == list(range(store.num_edges))
    source, target = np.asarray(store.edge_source), store.edge_target()
    assert (source[bonds.forth] == bonds.one).all() and (target[bonds.forth] == bonds.other).all()
    pairs = bonds.forth != bonds.back
    assert (source[bonds.back][pairs] == bonds.other[pairs]).all()
    assert bonds.counts.sum() == len(bonds) and bonds.of(3) == slice(bonds.ptr[3], bonds.ptr[4])


def test_one_edge_without_an_opposite_leaves_all_others_their_bonds() -> None:
    both = [(0, 1), (1, 0), (1, 2), (2, 1)]
    one_way = [*both, (2, 3)]
    store = pack([3, 4], [4, 5], np.array([*both, *one_way]).T)
    bonds = find_bonds(store)
    assert store.edge_reverse is None and bonds.counts.tolist() == [2, 3]
    assert (bonds.forth == bonds.back).sum() == 1
    assert not in_ring(store, bonds).any()
    twice = find_bonds(pack([2], [4], np.array([(0, 1), (0, 1), (1, 0), (1, 1)]).T))
    assert len(twice) == 3 and sorted({*twice.forth.tolist(), *twice.back.tolist()}) == [0, 1, 2, 3]


def test_the_mean_is_over_both_directions() -> None:
    store = random_store(5)
    bonds, values = find_bonds(store), np.random.default_rng(0).random(store.num_edges)
    assert bonds.mean(values) == pytest.approx((values[bonds.forth] + values[bonds.back]) / 2)


def test_rings_are_what_is_no_bridge() -> None:
    store = random_store(60, seed=3)
    bonds = find_bonds(store)
    found = in_ring(store, bonds)
    for graph in range(len(store)):
        own = bonds.of(graph)
        pairs = list(zip(bonds.one[own].tolist(), bonds.other[own].tolist()))
        whole = nx.Graph([pair for pair in pairs if pair[0] != pair[1]])
        bridges = {frozenset(bridge) for bridge in nx.bridges(whole)} if whole else set()
        # A repeated edge is a cycle of two, which a simple graph does not show.
        expected = [pairs.count(p) + pairs.count(p[::-1]) > 1 or frozenset(p) not in bridges for p in pairs]
        assert found[own].tolist() == expected


def test_traits_of_molecules_agree_with_rdkit() -> None:
    bonds, chemistry = find_bonds(DATASET.store), chemistry_of(DATASET)
    traits = {trait.name: trait for trait in traits_of(DATASET, bonds, chemistry)}
    assert list(traits) == ["bond", "atoms", "ring", "degree", "heteroatom"]
    for graph, text in enumerate(MOLECULES):
        molecule = Chem.MolFromSmiles(text)
        molecule = Chem.MolFromSmiles(Chem.MolToSmiles(molecule)) if "@" in text or "/" in text else molecule
        hetero = [atom.GetIdx() for atom in molecule.GetAtoms() if atom.GetAtomicNum() != 6]
        far = Chem.GetDistanceMatrix(molecule)
        own = bonds.of(graph)
        for place in range(own.start, own.stop):
            ends = int(bonds.one[place]), int(bonds.other[place])
            bond = molecule.GetBondBetweenAtoms(*ends)
            assert traits["bond"].texts[place] == str(bond.GetBondType()).lower()
            assert traits["ring"].texts[place] == ("yes" if bond.IsInRing() else "no")
            atoms = sorted((molecule.GetAtomWithIdx(end) for end in ends), key=lambda atom: atom.GetAtomicNum())
            assert traits["atoms"].texts[place] == "–".join(atom.GetSymbol() for atom in atoms)
            nearest = min((far[end][other] for end in ends for other in hetero), default=9)
            assert traits["heteroatom"].code[place] == min(nearest, 3)
            degrees = [molecule.GetAtomWithIdx(end).GetDegree() for end in ends]
            assert traits["degree"].code[place] == min(*degrees, 4)


def test_mutag_is_known_to_hold_molecules(data_dir) -> None:
    dataset = load_dataset("MUTAG", data_dir=data_dir)
    chemistry = chemistry_of(dataset)
    assert chemistry is not None
    share = np.bincount(chemistry.element) / len(chemistry.element)
    # Nitro compounds: every nitrogen that is not in a ring has two oxygens.
    assert share[6] > 0.7 and share[8] > share[7] > 0.09
    assert chemistry_of(load_dataset("planted")) is None
