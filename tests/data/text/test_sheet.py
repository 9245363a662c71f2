"""Excel workbooks as people have them."""

from __future__ import annotations

import datetime
import sys
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest

from adgcl.core.errors import ConfigError, DataError
from adgcl.core.extras import MissingExtraError
from adgcl.data.load import load_dataset
from adgcl.data.text.smiles_table import load_smiles_table


def write(path: Path, **sheets: list[list[Any]]) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


ROWS = [["name", "smiles", "logP"], ["ethanol", "CCO", -0.3], [], ["broken", "C1CC", 1], ["methane", "C", 1.1]]


def test_a_sheet_is_read_like_the_csv_of_it(tmp_path: Path) -> None:
    sheet = load_smiles_table(write(tmp_path / "mine.xlsx", Data=ROWS), label_columns="logP")
    (tmp_path / "mine.csv").write_text("\n".join(",".join(map(str, row)) for row in ROWS) + "\n")
    table = load_smiles_table(tmp_path / "mine.csv", label_columns="logP")
    assert sheet.smiles == table.smiles == ("CCO", "C") and sheet.store.y.tolist() == table.store.y.tolist()
    assert list(sheet.store.ids) == list(table.store.ids) and sheet.columns == table.columns == ("name", "logP")
    assert sheet.bad_rows == table.bad_rows and sheet.rows.tolist() == table.rows.tolist() == [0, 3]
    # The number that the spreadsheet shows, the empty row counted.
    assert [(bad.line, bad.id) for bad in sheet.bad_rows] == [(3, "1"), (4, "broken")]


def test_the_first_sheet_or_one_by_name(tmp_path: Path) -> None:
    path = write(tmp_path / "two.xlsx", First=[["smiles"], ["CCO"]], Second=[["smiles"], ["CC"], ["C"]])
    assert load_dataset(path, cache=False).smiles == ("CCO",)
    assert load_dataset(path, cache=False, sheet="Second").smiles == ("CC", "C")
    with pytest.raises(DataError, match=r"no sheet 'Secund'. It has: First, Second") as caught:
        load_dataset(path, cache=False, sheet="Secund")
    assert "Did you mean 'Second'" in str(caught.value)
    (tmp_path / "a.csv").write_text("smiles\nC\n")
    with pytest.raises(ConfigError, match="has no sheets"):
        load_dataset(tmp_path / "a.csv", cache=False, sheet="First")


def test_cells_keep_their_values(tmp_path: Path) -> None:
    rows = [
        ["smiles", "y", "id"],
        ["CCO", 0.123456789012345, 7],
        [" CC ", 1e-12, datetime.datetime(2024, 5, 1)],
        ["C", "#N/A", True],
        ["CCC", 12345678901234, 2.0],
    ]
    dataset = load_smiles_table(write(tmp_path / "cells.xlsx", Data=rows))
    assert np.array_equal(dataset.store.y[:, 0], [0.123456789012345, 1e-12, np.nan, 12345678901234], equal_nan=True)
    assert list(dataset.store.ids) == ["7", "2024-05-01T00:00:00", "true", "2"] and dataset.smiles[1] == "CC"


def test_a_note_beside_the_table_is_no_bad_row(tmp_path: Path) -> None:
    rows = [["smiles", "y"], ["CCO", 1.5], ["CC", 2.5, None, "measured twice"]]
    dataset = load_smiles_table(write(tmp_path / "note.xlsx", Data=rows))
    assert len(dataset) == 2 and dataset.bad_rows == () and dataset.columns == ("y", "column 3", "column 4")


def test_without_header_and_below_empty_rows(tmp_path: Path) -> None:
    dataset = load_smiles_table(write(tmp_path / "bare.xlsx", Data=[[], [], ["CCO"], ["xx"], ["CC"]]))
    assert dataset.smiles == ("CCO", "CC") and [bad.line for bad in dataset.bad_rows] == [1, 2, 4]
    named = load_smiles_table(write(tmp_path / "named.xlsx", Data=[[], ["smiles"], ["CCO"], [], ["CC"], [], [""]]))
    assert named.rows.tolist() == [0, 2] and [(bad.line, bad.reason) for bad in named.bad_rows] == [(4, "empty")]


def test_workbooks_that_cannot_be_read(tmp_path: Path) -> None:
    def fails(match: str, path: Path) -> None:
        with pytest.raises(DataError, match=match) as caught:
            load_dataset(path, cache=False)
        assert caught.value.hint

    fails("is empty", write(tmp_path / "empty.xlsx", Data=[]))
    fails("no rows", write(tmp_path / "header.xlsx", Data=[["smiles", "y"]]))
    fails("two columns called 'y'", write(tmp_path / "twice.xlsx", Data=[["smiles", "y", "y"], ["C", 1, 2]]))
    whole = write(tmp_path / "whole.xlsx", Data=ROWS).read_bytes()
    for cut in (0, 10, len(whole) // 2):
        (tmp_path / "cut.xlsx").write_bytes(whole[:cut])
        fails("cannot be read as an Excel workbook", tmp_path / "cut.xlsx")
    (tmp_path / "old.xls").write_bytes(b"\xd0\xcf\x11\xe0")
    fails("spreadsheet format that cannot be read", tmp_path / "old.xls")


def test_without_openpyxl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "mine.xlsx", Data=ROWS)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(MissingExtraError, match="openpyxl, which is not installed") as caught:
        load_dataset(path, cache=False)
    assert caught.value.hint == 'Run `pip install "adgcl[excel]"`.'
