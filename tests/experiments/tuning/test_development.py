"""No trial sees a label of the test part, whatever the data and the protocol."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from adgcl.core.errors import DataError
from adgcl.data.dataset import Dataset
from adgcl.data.splits import divided, random_split, stratified_split
from adgcl.experiments.source import Source
from adgcl.experiments.tuning.development import Development, without_test_labels
from adgcl.training.run_config import DataConfig
from tests.cli.conftest import write_molecules, write_tu


def test_data_without_a_split_loses_the_labels_of_a_fifth(toys: Path):
    whole = Source(str(toys)).load()
    seen = without_test_labels(whole)
    test = stratified_split(whole)["test"]
    assert np.isnan(seen.store.y[test]).all() and len(test) == pytest.approx(len(whole) / 5, abs=1)
    rest = np.setdiff1d(np.arange(len(whole)), test)
    assert (seen.store.y[rest] == whole.store.y[rest]).all()


@pytest.mark.parametrize("how", ["cv", "random"])
def test_test_labels_change_nothing(toys: Path, how: str):
    """Whatever the labels of the test part are, a search sees the same data."""
    whole = divided(Source(str(toys)).load(), how)
    test = (whole.split or stratified_split(whole))["test"]
    y = whole.store.y.copy()
    y[test] = 1 - y[test]
    other = whole.with_store(whole.store.with_labels(y, whole.task))
    if how == "cv":  # the test part itself is drawn by labels, so that other labels would draw another
        seen = [without_test_labels(whole).store.y, y]
        seen[1][test] = np.nan
    else:
        seen = [without_test_labels(data).store.y for data in (whole, other)]
    assert np.array_equal(seen[0], seen[1], equal_nan=True)


def test_other_features_are_masked_too(tmp_path: Path):
    """Molecules may be read again with other features: their labels must not come back."""
    data = Development.of(Source(str(write_molecules(tmp_path / "m.csv")), label_columns=("logp",)))
    for atoms in ("ogb", "hu"):
        seen = data.seen(DataConfig(atom_features=atoms))
        assert np.isnan(seen.store.y).sum() == data.test_size > 0


def test_what_is_tested_afterwards_is_what_was_hidden(toys: Path):
    data = Development.of(Source(str(toys)))
    hidden = np.flatnonzero(np.isnan(data.seen(DataConfig()).store.y[:, 0]))
    tested: Dataset = data.test_source.load()
    assert tested.split is not None and np.array_equal(tested.split["test"], hidden)
    own = Development.of(Source(str(toys), split="random"))
    assert own.test_source == own.source
    assert own.test_size == len(random_split(len(own.content))["test"])


def test_classes_are_spread_evenly(tmp_path: Path):
    whole = Source(str(write_tu(tmp_path / "MANY", "MANY", graphs=50))).load()
    split = stratified_split(whole)
    assert sorted(np.concatenate(list(split.values()))) == list(range(50))
    assert {name: len(ids) for name, ids in split.items()} == {"train": 30, "valid": 10, "test": 10}
    assert all(whole.store.y[ids].mean() == 0.5 for ids in split.values())


def test_a_training_part_without_labels_says_so(tmp_path: Path):
    parts = ["train"] * 6 + ["valid"] * 3 + ["test"] * 3
    rows = [f"{'C' * (n + 1)},{'' if n < 6 else n % 2},{part}" for n, part in enumerate(parts)]
    (tmp_path / "m.csv").write_text("smiles,active,part\n" + "\n".join(rows) + "\n")
    whole = Source(str(tmp_path / "m.csv"), label_columns=("active",), split="part").load()
    with pytest.raises(DataError, match="no labelled graph"):
        without_test_labels(whole)


def test_data_without_labels_says_what_is_needed(tmp_path: Path):
    (tmp_path / "m.csv").write_text("smiles\n" + "\n".join("C" * n for n in range(1, 9)) + "\n")
    with pytest.raises(DataError, match="no labels"):
        Development.of(Source(str(tmp_path / "m.csv")))
