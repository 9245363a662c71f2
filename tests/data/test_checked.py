"""Packed files are checked once, and a damaged cache mends itself."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from adgcl.core.errors import DataError
from adgcl.data import checked
from adgcl.data.load import load_dataset
from adgcl.data.packed import open_dataset, save_dataset
from adgcl.graphs.store import storage


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ADGCL_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "m.csv"
    path.write_text("smiles,y\nCCO,1.5\nnot one,2\nc1ccccc1,2.5\nCC(=O)O,0.5\n")
    return path


def _flip(path: Path, place: int) -> None:
    content = bytearray(path.read_bytes())
    content[place] ^= 0xFF
    path.write_bytes(content)


@pytest.mark.parametrize("place", [0, 3, 12, 200, -1, -40])
def test_a_damaged_cache_is_noticed_and_packed_again(own_cache: Path, table: Path, place: int) -> None:
    first = load_dataset(table)
    x, smiles = first.store.x.copy(), list(first.smiles or ())
    (packed,) = own_cache.glob("*.graphs")
    whole = packed.read_bytes()
    _flip(packed, place)
    again = load_dataset(table)
    assert packed.read_bytes() == whole
    assert np.array_equal(x, again.store.x) and list(again.smiles or ()) == smiles


def test_a_header_without_offsets_does_not_block_a_data_set(own_cache: Path, table: Path) -> None:
    load_dataset(table)
    (packed,) = own_cache.glob("*.graphs")
    packed.write_bytes(packed.read_bytes().replace(b'"data_offsets"', b'"data_offset_"'))
    assert len(load_dataset(table)) == 3


def test_a_large_file_is_checked_once_and_again_after_any_change(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "own.graphs"
    save_dataset(load_dataset(table), path)
    monkeypatch.setattr(checked, "LARGE", 1)
    looked: list[object] = []
    monkeypatch.setattr(storage, "fault", lambda store: looked.append(store) or "")
    for _ in range(3):
        assert len(open_dataset(path)) == 3
    assert len(looked) == 1
    os.utime(path)
    open_dataset(path)
    assert len(looked) == 2
    _flip(path, -1)
    with pytest.raises(DataError, match="checksum"):
        open_dataset(path)


def test_what_comes_with_graphs_must_fit_them(table: Path, tmp_path: Path) -> None:
    from dataclasses import replace

    dataset, path = load_dataset(table), tmp_path / "own.graphs"
    for change in (
        {"split": {"train": np.array([0, 3])}},
        {"split": {"train": np.array([-1])}},
        {"rows": np.array([0, 2, 9])},
        {"rows": np.array([2, 0, 3])},
        {"rows": np.array([0, 2])},
        {"smiles": ("C",)},
    ):
        save_dataset(replace(dataset, **change), path)  # type: ignore[arg-type]
        with pytest.raises(DataError, match="damaged"):
            open_dataset(path)
