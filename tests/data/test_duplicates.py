"""The same molecule in several rows: what it spoils is counted."""

from __future__ import annotations

import numpy as np

from adgcl.data.duplicates import Duplicates, find_duplicates
from adgcl.data.text.smiles_table import smiles_dataset

SMILES = ["CCO", "OCC", "CCN", "NCC", "CCC", "C(C)C", "CCCl", "C"]


def parts(train, valid, test):
    return {"train": np.array(train), "valid": np.array(valid), "test": np.array(test)}


def test_parts_that_share_molecules_are_counted():
    dataset = smiles_dataset(SMILES)
    # Ethanol is trained on and tested; ethylamine chooses the epoch and is tested; propane is trained on twice.
    found = find_duplicates(dataset, [parts([0, 4, 5, 6], [2, 7], [1, 3])])
    assert found == Duplicates(repeated=3, across_parts=1, test_in_valid=1)
    assert "1 molecule is both in the training part and in the valid or test part" in str(found)
    assert "1 molecule is both in the test part and in the valid part" in str(found)


def test_a_row_that_several_folds_share_counts_once():
    folds = [parts([0, 2, 4, 6], [1, 3], [5, 7]), parts([1, 3, 5, 7], [0, 2], [4, 6]), parts([0, 2, 5, 6], [7], [1])]
    assert find_duplicates(smiles_dataset(SMILES), folds) == Duplicates(repeated=3, across_parts=6)


def test_without_a_split_only_repeated_rows_are_counted():
    found = find_duplicates(smiles_dataset(SMILES))
    assert found == Duplicates(repeated=3) and str(found) == "3 rows repeat a molecule of another row."


def test_classes_contradict_each_other_and_measurements_do_not():
    classes = find_duplicates(smiles_dataset(SMILES, [1, 0, 1, 1, 0, np.nan, 0, 1], task="binary"))
    assert classes.contradicting == 1 and "1 molecule has different labels" in str(classes)
    values = find_duplicates(smiles_dataset(SMILES, [1.5, 1.6, 1, 1, 0, 3, 0, 1], task="regression"))
    assert values.contradicting == 0
