"""Labels with decimal commas: understood where they are meant, refused where they may mean something else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adgcl.core.errors import DataError
from adgcl.data.text.labels import with_points
from adgcl.data.text.smiles_table import load_smiles_table


def read(folder: Path, text: str, **options: object):
    path = folder / "table.csv"
    path.write_text(text, encoding="utf-8")
    return load_smiles_table(path, **options)


def test_decimal_commas_between_semicolons(tmp_path: Path) -> None:
    dataset = read(tmp_path, "smiles;y;name\nCCO;1,5;a,b\nCC;-2,25e1;c\nC;;d\nCCC;3;e\n")
    assert np.array_equal(dataset.store.y[:, 0], [1.5, -22.5, np.nan, 3], equal_nan=True)
    assert dataset.task.kind == "regression" and list(dataset.store.ids) == ["a,b", "c", "d", "e"]


def test_truth_values_and_numbers_that_mean_the_same_are_yes_or_no(tmp_path: Path) -> None:
    dataset = read(tmp_path, "smiles,y\nCCO,1.0\nCC,0.0\nC,TRUE\nCCC,False\nCCCC,\n", label_columns="y")
    assert dataset.task.kind == "binary"
    assert np.array_equal(dataset.store.y[:, 0], [1, 0, 1, 0, np.nan], equal_nan=True)
    with pytest.raises(DataError, match="'TRUE' of 'y' is not a number"):
        read(tmp_path, "smiles,y\nCCO,1.5\nCC,0.0\nC,TRUE\n")


def test_words_for_missing_labels_can_be_classes_next_to_other_words(tmp_path: Path) -> None:
    classes = read(tmp_path, "smiles,y\nC,none\nCC,mild\nCCC,severe\nCCCC,None\nCCCCC,\nCO,NA\n", label_columns="y")
    assert classes.task.names == ("None", "mild", "none", "severe")
    assert np.isnan(classes.store.y[:, 0]).tolist() == [False] * 4 + [True] * 2
    signs = read(tmp_path, "smiles,y\nC,+\nCC,-\nCCC,\n", label_columns="y")
    assert signs.task.kind == "binary" and np.array_equal(signs.store.y[:, 0], [1, 0, np.nan], equal_nan=True)
    for text in ("smiles,y\nC,1.5\nCC,none\nCCC,-\n", "smiles,y\nC,yes\nCC,none\nCCC,-\nCO,no\n"):
        assert np.isnan(read(tmp_path, text).store.y[1:3, 0]).all(), (
            "next to numbers, or to yes and no, nobody means a class"
        )


@pytest.mark.parametrize(
    "label, says, advice",
    [("2.1e300", "too large", "another unit"), ("inf", "too large", "another unit"), (">5", "not a number", "Limits"),
     ("~ 7.5", "not a number", "Limits"), ("≥5 µM", "not a number", "Limits"), ("5 nM", "not a number", "--unit"),
     ("5%", "not a number", "plain numbers"), ("five", "not a number", "--task multiclass")],
)  # fmt: skip
def test_labels_that_cannot_be_learned_are_named_with_their_line(tmp_path: Path, label: str, says: str, advice: str):
    with pytest.raises(DataError, match=rf"table.csv, line 3: the label '.*' of 'y' is {says}") as error:
        read(tmp_path, f"smiles,y\nC,1.5\nCC,{label}\nCCC,2.5\n")
    assert advice in str(error.value)


def test_without_header_the_semicolon_is_still_the_delimiter(tmp_path: Path) -> None:
    dataset = read(tmp_path, "CCO;1,5\nCC;2,5\nc1ccccc1;3,5\n", label_columns="2")
    assert dataset.smiles == ("CCO", "CC", "c1ccccc1") and dataset.store.y[:, 0].tolist() == [1.5, 2.5, 3.5]


def test_each_column_is_judged_alone(tmp_path: Path) -> None:
    dataset = read(tmp_path, "smiles;a;b\nCCO;1,5;1.5\nCC;2;2.5\n", label_columns=["a", "b"])
    assert dataset.store.y.tolist() == [[1.5, 1.5], [2, 2.5]]


@pytest.mark.parametrize(
    "text",
    [
        "smiles;y\nCCO;1,5\nCC;2.5\n",
        "smiles;y\nCCO;1.234,5\nCC;2.500,0\n",
        "smiles;y\nCCO;1,234,567\nCC;1\n",
        'smiles,y\nCCO,"1,5"\nCC,"2,5"\nC,1\n',
        "smiles\ty\nCCO\t1,234\nCC\t2,5\nC\t1\n",
        "smiles\ty\nCCO\t1,234\nCC\t2,5\n",
    ],
    ids=["mixed", "thousands", "two commas", "comma between fields", "tab between fields", "commas alone"],
)
def test_what_may_be_thousands_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(DataError, match=r"line 2: the label '1") as caught:
        read(tmp_path, text)
    assert "Decimal commas are accepted in files with `;`" in str(caught.value)


def test_words_with_commas_stay_words(tmp_path: Path) -> None:
    assert read(tmp_path, "smiles;y\nCCO;a,b\nCC;c\n").task.names == ("a,b", "c")
    assert read(tmp_path, 'smiles,y\nCCO,"1,2"\nCC,"1,3"\n', task="multiclass").task.names == ("1,2", "1,3")
    assert with_points(["1,5", "red"]) == ["1,5", "red"]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(-1e9, 1e9).map(lambda value: f"{value:.6g}") | st.sampled_from(["", "NA"]), min_size=1))
def test_commas_and_points_give_the_same_numbers(texts: list[str]) -> None:
    with_commas = [text.replace(".", ",") for text in texts]
    assert list(with_points(with_commas)) == texts
    assert with_points(texts) == texts


def test_excels_word_for_missing(tmp_path: Path) -> None:
    assert np.isnan(read(tmp_path, "smiles,y\nCCO,1.5\nCC,#N/A\n").store.y[1, 0])
