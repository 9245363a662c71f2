"""Salts and mixtures: counted, and cut to their largest fragment on demand."""

from __future__ import annotations

import numpy as np
import pytest
from rdkit import Chem
from rdkit.Chem.MolStandardize.rdMolStandardize import LargestFragmentChooser

from adgcl.data.text.csv_columns import read_table
from adgcl.graphs.chem.fragments import largest_fragment
from adgcl.graphs.chem.molecules import molecules_to_store
from adgcl.jobs.chunks import CHUNK


def test_fragments_are_counted():
    texts = ["CCO", "[Na+].[Cl-]", "x", "C1.C1", "CC dot. in a title", "C.C.C", "CC |(0.5,0,;1.5,0,)|"]
    read = molecules_to_store(texts)
    assert (read.mixtures, read.fragments) == (2, {})
    assert read.store.node_counts.tolist() == [3, 2, 2, 2, 3, 2]


@pytest.mark.parametrize(
    "mixture, kept",
    [
        ("CC(=O)[O-].[Na+]", "CC(=O)[O-]"),
        ("Cl.CN", "CN"),
        ("[Na+].[Cl-]", "[Cl-]"),  # as many heavy atoms: the heavier
        ("O.[2H]O[2H]", "[2H]O[2H]"),
        ("COC.OCC", "CCO"),  # as heavy: the first by its canonical SMILES
        ("C[C@H](N)C(=O)O.C[C@@H](N)C(=O)O", "C[C@@H](N)C(=O)O"),
        ("C/C=C/C(=O)O.O", "C/C=C/C(=O)O"),
        ("O.O", "O"),
    ],
)
def test_the_largest_fragment(mixture, kept):
    molecule = Chem.MolFromSmiles(mixture)
    assert largest_fragment(molecule) == kept
    for _ in range(10):
        assert largest_fragment(Chem.MolFromSmiles(Chem.MolToSmiles(molecule, doRandom=True))) == kept


def test_real_salts_are_cut_as_rdkit_would(data_dir):
    texts, _ = read_table(data_dir / "moleculenet/bbbp.csv.gz", ("smiles",))
    smiles = texts["smiles"]
    read = molecules_to_store(smiles, keep_largest_fragment=True)
    several = [i for i in read.kept.tolist() if len(Chem.GetMolFrags(Chem.MolFromSmiles(smiles[i]))) > 1]
    assert read.mixtures == len(several) > 50 and sorted(read.fragments) == several
    chooser = LargestFragmentChooser()
    same = [Chem.MolToSmiles(chooser.choose(Chem.MolFromSmiles(smiles[i]))) == read.fragments[i] for i in several]
    assert all(same)
    cut = molecules_to_store([read.fragments.get(i, text) for i, text in enumerate(smiles)])
    for name in ("node_ptr", "edge_ptr", "edge_source", "x", "edge_attr"):
        assert np.array_equal(getattr(cut.store, name), getattr(read.store, name))


def test_positions_count_over_all_chunks():
    smiles = ["C"] * CHUNK + ["x", "C.CC", "C"]
    for workers in (1, 2):
        read = molecules_to_store(smiles, keep_largest_fragment=True, workers=workers)
        assert (read.mixtures, dict(read.fragments)) == (1, {CHUNK + 1: "CC"})
