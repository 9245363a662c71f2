"""A label is told as its file says it, or not at all."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from adgcl.data.text.as_written import label_as_written
from adgcl.data.text.smiles_table import load_smiles_table, smiles_dataset


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "assay.csv"
    path.write_text("id,smiles,hit\na,CCO,\nb,xx,no\nc,CC, Active\nd,C,1\n")
    return path


def test_the_text_of_the_row_is_found(table: Path) -> None:
    dataset = load_smiles_table(table, label_columns="hit")
    assert [label_as_written(dataset, "hit", graph) for graph in (1, 2)] == ["Active", "1"]


def test_what_says_something_else_or_is_not_there_is_not_told(table: Path, tmp_path: Path) -> None:
    dataset = load_smiles_table(table, label_columns="hit")
    assert label_as_written(smiles_dataset(["C"], y=[1]), "y", 0) is None, "there is no file"
    assert label_as_written(replace(dataset, origin=replace(dataset.origin, source="gone.csv")), "hit", 1) is None
    for rows in ("b,xx,no\nc,CC,inactive\n", "b,xx,no\nc,CC,perhaps\n", "b,xx,no\n"):
        table.write_text(f"id,smiles,hit\na,CCO,\n{rows}")
        assert label_as_written(dataset, "hit", 1) is None
    table.write_text("id,smiles,other\na,CCO,\nb,C,1\nc,C,1\n")
    assert label_as_written(dataset, "hit", 1) is None
