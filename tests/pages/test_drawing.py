"""Pictures: colours on the right bonds, the same layout every time, and compact drawings that can be read back."""

from __future__ import annotations

import re

import numpy as np
import pytest
from rdkit import Chem

from adgcl.data.dataset import Dataset, Origin
from adgcl.data.load import load_dataset
from adgcl.insight.bonds import find_bonds
from adgcl.insight.chemistry import chemistry_of
from adgcl.pages.drawing.compact import compact_pictures
from adgcl.pages.drawing.graph_svg import draw_graph
from adgcl.pages.drawing.marks import Mark, marks_of
from adgcl.pages.drawing.molecule import bond_numbers, molecule_of
from adgcl.pages.drawing.pictures import Pictures
from adgcl.pages.drawing.rdkit_svg import draw_molecule
from adgcl.pages.drawing.scale import STEPS, scale_css, step
from adgcl.pages.drawing.stress import stress_layout
from tests.graph_cases import random_store
from tests.insight_cases import MOLECULES

DATASET = load_dataset(list(MOLECULES))


def test_every_bond_gets_its_own_colour() -> None:
    molecule = Chem.MolFromSmiles("CC(=O)Nc1ccc(O)cc1")
    marks = {bond: Mark(3 * bond, 0, f"bond {bond}") for bond in range(molecule.GetNumBonds())}
    svg = draw_molecule(molecule, "paracetamol", marks)
    found = re.findall(r'class="band s(\d+)" data-v="\d+" data-r="0" d="[^"]+"><title>bond (\d+)</title>', svg)
    assert {int(bond): int(value) for value, bond in found} == {bond: 3 * bond for bond in marks}
    assert 'aria-label="paracetamol"' in svg and "stroke:" not in svg and svg.count("<svg") == 1


def test_texts_are_escaped() -> None:
    evil = '"><script>alert(1)</script>'
    molecule = Chem.MolFromSmiles("CO")
    pictures = [draw_molecule(molecule, evil, {0: Mark(0, 0, evil)})]
    pictures.append(draw_graph(2, np.array([[0, 1]]), evil, [Mark(0, 0, evil)]))
    assert not any("<script" in picture for picture in pictures)


def test_molecules_have_the_atoms_of_their_graphs() -> None:
    bonds, chemistry = find_bonds(DATASET.store), chemistry_of(DATASET)
    for graph in range(len(DATASET)):
        molecule = molecule_of(DATASET, bonds, chemistry, graph)
        first, last = DATASET.store.node_ptr[graph : graph + 2]
        assert [a.GetAtomicNum() for a in molecule.GetAtoms()] == chemistry.element[first:last].tolist()
        own = bonds.of(graph)
        pairs = np.stack([bonds.one[own], bonds.other[own]], axis=1)
        assert sorted(bond_numbers(molecule, pairs)) == list(range(molecule.GetNumBonds()))


def test_a_molecule_without_smiles_is_built_from_its_graph() -> None:
    bare = Dataset("bare", DATASET.store, Origin("own"))
    bonds, chemistry = find_bonds(bare.store), chemistry_of(bare)
    for graph, text in enumerate(MOLECULES):
        molecule = molecule_of(bare, bonds, chemistry, graph)
        written = Chem.MolFromSmiles(text)
        Chem.RemoveStereochemistry(written)
        assert Chem.MolToSmiles(molecule) == Chem.MolToSmiles(written)
        assert "<svg" in draw_molecule(molecule, text)


def test_marks_rank_within_a_graph() -> None:
    marks = marks_of(np.array([0.2, 0.8, 0.2, 0.5]), list("abcd"))
    assert [mark.value for mark in marks] == [step(v) for v in (0.2, 0.8, 0.2, 0.5)]
    assert [mark.rank for mark in marks] == [step(r) for r in (1 / 6, 1, 1 / 6, 2 / 3)]
    assert marks_of(np.array([]), []) == []


def test_the_scale_is_fixed_and_has_both_ends() -> None:
    assert [step(-1), step(0), step(0.5), step(1), step(2)] == [0, 0, STEPS // 2, STEPS, STEPS]
    assert scale_css().count(f".s{STEPS}{{") == 2


@pytest.mark.parametrize("shape", ["path", "ring", "parts", "alone", "complete"])
def test_layouts_keep_distances(shape: str) -> None:
    ring = [(i, (i + 1) % 12) for i in range(12)]
    pairs = {
        "path": [(i, i + 1) for i in range(9)], "ring": ring, "parts": [*ring, (12, 13), (14, 15)], "alone": [],
        "complete": [(i, j) for i in range(8) for j in range(i)],
    }[shape]  # fmt: skip
    nodes = 1 + max((max(pair) for pair in pairs), default=0)
    edges = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    places = stress_layout(nodes, edges)
    assert np.isfinite(places).all() and (stress_layout(nodes, edges) == places).all()
    if shape in ("path", "ring", "parts"):
        lengths = np.linalg.norm(places[edges[:, 0]] - places[edges[:, 1]], axis=1)
        assert lengths == pytest.approx(1.0, abs=0.25)
    if nodes > 1:
        gaps = np.linalg.norm(places[:, None] - places[None], axis=2) + 9 * np.eye(nodes)
        assert gaps.min() > 0.2


def test_pictures_of_any_graph() -> None:
    store = random_store(12, node_sizes=(3,))
    dataset = Dataset("random", store, Origin("own"))
    bonds = find_bonds(store)
    pictures = Pictures(dataset, bonds, None)
    for graph in range(len(store)):
        own = bonds.of(graph)
        svg = pictures.draw(graph, [Mark(1, 1, "")] * (own.stop - own.start), "graph")
        assert svg.count("<circle") == store.node_counts[graph] and svg.count("<line") == own.stop - own.start
    assert "<svg" in pictures.around(0, Mark(50, 50, "this"), "motif")


def read_back(picture: bytes, labels: list[str]):
    nodes, edges = picture[0], picture[1]
    atoms = np.frombuffer(picture[4 : 4 + 3 * nodes], dtype=np.uint8).reshape(-1, 3)
    bonds = np.frombuffer(picture[4 + 3 * nodes :], dtype=np.uint8).reshape(-1, 3)
    assert len(bonds) == edges
    return atoms, [labels[code - 1] if code else "" for code in atoms[:, 2]], bonds, picture[2] / 100


def test_compact_pictures_hold_the_molecule() -> None:
    pictures, labels = compact_pictures(DATASET)
    for text, picture in zip(MOLECULES, pictures, strict=True):
        molecule = Chem.MolFromSmiles(text)
        atoms, texts, bonds, unit = read_back(picture, labels)
        assert len(atoms) == molecule.GetNumAtoms() and len(bonds) == molecule.GetNumBonds()
        Chem.Kekulize(molecule, clearAromaticFlags=True)
        for a, b, order in bonds.tolist():
            kind = molecule.GetBondBetweenAtoms(a, b).GetBondTypeAsDouble()
            assert {1: 1, 2: 2, 3: 3, 4: 2, 5: 2}[order] == kind
            length = np.linalg.norm(atoms[a, :2].astype(float) - atoms[b, :2]) * unit
            assert length == pytest.approx(1.0, abs=0.12)
        for atom, label in zip(molecule.GetAtoms(), texts, strict=True):
            assert label.startswith(atom.GetSymbol()) or (label == "" and atom.GetSymbol() == "C")
    assert "O|H" in labels and "N⁺" in labels and "C|H₄" in labels and "N|H₂" in labels


def test_a_graph_that_is_too_large_has_an_empty_picture() -> None:
    pictures, _ = compact_pictures(load_dataset(["C" * 300, "CC"]))
    assert pictures[0] == bytes(4) and pictures[1][0] == 2
