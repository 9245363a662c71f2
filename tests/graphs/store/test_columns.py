"""Joining stores on disk gives what joining them in memory gives, and files are safetensors files."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file

from adgcl.graphs.store import columns, tensors
from adgcl.graphs.store.columns import GrowingColumn
from adgcl.graphs.store.concat import concatenate
from adgcl.graphs.store.storage import open_store, save_store
from adgcl.graphs.store.tensors import write_tensors
from tests.graph_strategies import assert_same_store, packed, plain_graphs

PIECES = st.lists(
    st.tuples(st.integers(0, 9), st.sampled_from([np.uint8, np.uint16, np.uint32])), min_size=1, max_size=12
)


@settings(max_examples=60, deadline=None)
@given(pieces=PIECES, limit=st.integers(0, 64), width=st.sampled_from([(), (2,)]))
def test_a_column_is_its_pieces_in_the_type_that_holds_them(pieces, limit, width):
    arrays = [np.full((rows, *width), np.iinfo(dtype).max - i, dtype) for i, (rows, dtype) in enumerate(pieces)]
    column = GrowingColumn()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns, "_IN_MEMORY", limit)
        for array in arrays:
            column.append(array)
        joined = column.whole()
    expected = np.concatenate(arrays)
    assert joined.dtype == expected.dtype and np.array_equal(joined, expected)


def test_a_column_that_one_piece_lacks_is_lacking(monkeypatch):
    monkeypatch.setattr(columns, "_IN_MEMORY", 0)
    column = GrowingColumn()
    for piece in (np.ones(3), None, np.ones(2)):
        column.append(piece)
    assert column.whole() is None


@settings(max_examples=15, deadline=None)
@given(graphs=plain_graphs())
def test_stores_joined_on_disk_are_the_store_of_all_graphs(tmp_path_factory, graphs):
    store = replace(packed(graphs), ids=None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns, "_IN_MEMORY", 8)
        joined = concatenate(store.select([i]) for i in range(len(store)))
    assert_same_store(joined, store)
    path = tmp_path_factory.mktemp("joined") / "a.graphs"
    save_store(joined, path)
    assert_same_store(open_store(path), store)


def test_no_stores_cannot_be_joined():
    with pytest.raises(ValueError, match="no stores"):
        concatenate([])


def test_files_are_safetensors_files(tmp_path):
    arrays = {
        "bytes": np.arange(5, dtype=np.uint8),
        "empty": np.empty((0, 2), np.uint16),
        "turned": np.arange(6.0).reshape(2, 3).T,
        "numbers": np.arange(3),
    }
    path = tmp_path / "a.safetensors"
    write_tensors(path, arrays, {"made": "here"})
    read = load_file(path)
    assert read.keys() == arrays.keys()
    for name, array in arrays.items():
        assert read[name].dtype == array.dtype and np.array_equal(read[name], array)


def test_mapped_arrays_are_written_in_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr(tensors, "_PIECE", 5)
    monkeypatch.setattr(columns, "_IN_MEMORY", 4)
    column = GrowingColumn()
    for start in range(0, 40, 4):
        column.append(np.arange(start, start + 4, dtype=np.uint16).reshape(2, 2))
    mapped = column.whole()
    write_tensors(tmp_path / "a.safetensors", {"mapped": mapped, "changed": mapped + 1}, {})
    read = load_file(tmp_path / "a.safetensors")
    assert np.array_equal(read["mapped"], np.arange(40).reshape(-1, 2)) and np.array_equal(mapped, read["mapped"])
    assert np.array_equal(read["changed"], np.arange(1, 41).reshape(-1, 2))
