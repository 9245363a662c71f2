"""Splits: OGB's own scaffold splits, and the properties of all."""

from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adgcl.core.errors import DataError
from adgcl.data.families.moleculenet import load_moleculenet
from adgcl.data.splits import random_split, restricted, scaffold_split, stratified_folds
from adgcl.data.text.csv_columns import read_matrix, read_table
from adgcl.graphs.chem.scaffolds import scaffold_of, scaffolds

slow = pytest.mark.skipif(not os.environ.get("ADGCL_SLOW_TESTS"), reason="half a minute; set ADGCL_SLOW_TESTS")


def assert_divides(split, count):
    assert list(split) == ["train", "valid", "test"]
    assert np.array_equal(np.sort(np.concatenate(list(split.values()))), np.arange(count))
    for rows in split.values():
        assert rows.dtype == np.int64 and (np.diff(rows) > 0).all()


@pytest.mark.parametrize("name", ["esol", "freesolv", "bace", "bbbp", pytest.param("hiv", marks=slow)])
def test_scaffold_split_is_ogbs(data_dir, name):
    folder = data_dir / "ogb" / f"ogbg_mol{name}"
    texts, _ = read_table(folder / "mapping/mol.csv.gz", ("smiles", "mol_id"))
    split = scaffold_split(texts["smiles"])
    for part, rows in split.items():
        assert np.array_equal(rows, read_matrix(folder / f"split/scaffold/{part}.csv.gz", 1, "int64")[:, 0])


@pytest.mark.parametrize("name", ["clintox", "sider", "bbbp", "bace"])
def test_tables_of_transfer_are_split_as_the_files_say(data_dir, name):
    """All their molecules are readable, so rows of the data set are rows of the table."""
    dataset = load_moleculenet(name, data_dir)
    assert not dataset.bad_rows
    for part, rows in dataset.split.items():
        file = data_dir / "ogb" / f"ogbg_mol{name}" / f"split/scaffold/{part}.csv.gz"
        assert np.array_equal(rows, read_matrix(file, 1, "int64")[:, 0])


def test_leaving_out_what_cannot_be_read_moves_no_other_molecule(data_dir):
    """This RDKit refuses eight molecules of Tox21."""
    dataset = load_moleculenet("tox21", data_dir)
    texts, _ = read_table(data_dir / "moleculenet/tox21.csv.gz", ("smiles",))
    refused = {row.text for row in dataset.bad_rows}
    assert len(dataset.bad_rows) == 8
    kept = np.array([i for i, text in enumerate(texts["smiles"]) if text.strip() not in refused])
    for part, rows in dataset.split.items():
        whole = read_matrix(data_dir / f"ogb/ogbg_moltox21/split/scaffold/{part}.csv.gz", 1, "int64")[:, 0]
        assert np.array_equal(kept[rows], np.intersect1d(whole, kept))


def test_molecules_refused_by_this_rdkit_have_scaffolds():
    assert scaffold_of("O=C1O[Al]23(OC1=O)(OC(=O)C(=O)O2)OC(=O)C(=O)O3").count("Al") == 1
    assert scaffold_of("CC(C)Cc1ccccc1") == "c1ccccc1"
    assert scaffold_of("CCO") == ""
    assert scaffold_of("nonsense") is None


def test_chirality_counts():
    assert scaffold_of("C[C@H]1CCO[C@@H]1c1ccccc1") != scaffold_of("C[C@H]1CCO[C@H]1c1ccccc1")


def test_scaffolds_are_silent_and_in_order(capfd):
    seen = []
    found = scaffolds(["c1ccccc1C", "xx", None, "CC"], progress=lambda done, total: seen.append((done, total)))
    assert found == ["c1ccccc1", None, None, ""]
    assert seen == [(4, 4)]
    assert capfd.readouterr() == ("", "")


def test_scaffold_groups_stay_together():
    rings = ["c1ccccc1", "C1CCCCC1", "c1ccncc1", "C1CCOC1", "c1ccsc1"]
    smiles = [ring + "C" * tail for tail in range(1, 9) for ring in rings] + ["not a molecule"]
    split = scaffold_split(smiles, (0.6, 0.2, 0.2))
    assert_divides(split, len(smiles))
    groups = {name: {scaffold_of(smiles[i]) for i in rows} for name, rows in split.items()}
    assert not groups["train"] & groups["valid"] and not groups["train"] & groups["test"]


@settings(max_examples=50)
@given(st.integers(1, 300), st.integers(0, 5))
def test_random_split(count, seed):
    split = random_split(count, seed=seed)
    assert_divides(split, count)
    assert len(split["train"]) == int(0.8 * count + 1e-9)
    again = random_split(count, seed=seed)
    assert all(np.array_equal(split[name], again[name]) for name in split)


def test_random_split_depends_on_the_seed():
    assert not np.array_equal(random_split(100, seed=0)["train"], random_split(100, seed=1)["train"])


@pytest.mark.parametrize("valid_fold", [False, True])
def test_stratified_folds(valid_fold):
    y = np.array([0] * 60 + [1] * 40)
    folds = stratified_folds(y, 10, seed=1, valid_fold=valid_fold)
    assert len(folds) == 10
    for fold in folds:
        assert_divides(fold, 100)
        assert np.bincount(y[fold["test"]]).tolist() == [6, 4]
        assert len(fold["valid"]) == (10 if valid_fold else 0)
    assert np.array_equal(np.sort(np.concatenate([fold["test"] for fold in folds])), np.arange(100))


def test_restricted_drops_rows_and_renumbers():
    split = {"train": np.array([0, 1, 4]), "valid": np.array([2]), "test": np.array([3, 5])}
    smaller = restricted(split, np.array([0, 2, 3, 4]))
    assert {name: rows.tolist() for name, rows in smaller.items()} == {
        "train": [0, 3],
        "valid": [1],
        "test": [2],
    }


def test_wrong_arguments():
    with pytest.raises(DataError, match="not three numbers that sum to 1"):
        random_split(10, (0.5, 0.6, 0.1))
    with pytest.raises(DataError, match="nothing to split"):
        scaffold_split([])
    with pytest.raises(DataError, match="cannot be divided into 11 folds"):
        stratified_folds([0, 1], 11)
