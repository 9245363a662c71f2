"""What a model can learn from labels, and what the user is told about them."""

from __future__ import annotations

from pathlib import Path

import pytest

from adgcl.core.errors import DataError
from adgcl.data.dataset import Dataset
from adgcl.data.load import load_dataset
from adgcl.experiments.model.labels import check_classes, check_trainable


def dataset_of(folder: Path, labels: list[str], name: str = "activity", **options: str) -> Dataset:
    path = folder / "table.csv"
    rows = [f"{'C' * (1 + row % 9)}O,{label}\n" for row, label in enumerate(labels)]
    path.write_text(f"smiles,{name}\n" + "".join(rows), encoding="utf-8")
    return load_dataset(path, cache=False, **options)


@pytest.mark.parametrize(
    ("labels", "says"),
    [
        ([f"{row} nM" for row in range(20)], "The labels are measurements"),
        ([">3", "<2"] * 10, "The labels are limits"),
        ([f"drug {row}" for row in range(20)], "The labels look like names"),
    ],
)
def test_doubtful_classes_of_a_column_found_by_its_name_are_refused(tmp_path: Path, labels: list[str], says: str):
    dataset = dataset_of(tmp_path, labels)
    for check in (check_trainable, check_classes):
        with pytest.raises(DataError, match=says):
            check(dataset, task_named=False)
        check(dataset, task_named=True)


@pytest.mark.parametrize(
    ("label", "says"),
    [("active", "'active'"), ("FALSE", "'FALSE'"), ("1", "1"), ("0.0", "0.0"), ("2.5", "2.5"), ("5", "5"),
     ("red", "'red'")],
)  # fmt: skip
def test_the_only_label_is_told_as_the_file_says_it(tmp_path: Path, label: str, says: str) -> None:
    with pytest.raises(DataError, match=rf"the only label is {says}\.$"):
        raise_plainly(dataset_of(tmp_path, ["", label, label]))


def test_the_only_label_is_a_number_where_the_file_is_gone(tmp_path: Path) -> None:
    dataset = dataset_of(tmp_path, ["active", "active"])
    (tmp_path / "table.csv").unlink()
    with pytest.raises(DataError, match=r"the only label is 1\.$"):
        raise_plainly(dataset)


def raise_plainly(dataset: Dataset) -> None:
    """The error without its advice."""
    try:
        check_trainable(dataset, task_named=False)
    except DataError as error:
        raise DataError(error.message) from error


def test_whole_numbers_as_classes_are_mentioned(tmp_path: Path) -> None:
    told = "The labels are read as 3 classes; --task regression reads them as numbers."
    assert check_trainable(dataset_of(tmp_path, ["3", "4", "5"] * 4), task_named=False) == [told]
    assert check_trainable(dataset_of(tmp_path, ["3", "4", "5"] * 4, task="multiclass"), task_named=True) == []
    assert check_trainable(dataset_of(tmp_path, ["low", "high", "3A"] * 4), task_named=False) == []
    assert check_trainable(dataset_of(tmp_path, ["1.5", "2", "3"] * 4), task_named=False) == []
    assert check_trainable(dataset_of(tmp_path, ["0", "1"] * 4), task_named=False) == []
