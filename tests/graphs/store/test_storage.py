"""Packed files: round trips, memory maps, and files that are not what they should be."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from safetensors.numpy import save_file

from adgcl.core.errors import DataError, OutputError
from adgcl.graphs.store.storage import is_store, open_store, read_extra, read_notes, save_store
from adgcl.graphs.store.strings import PackedStrings
from tests.graph_strategies import Plain, assert_same_store, packed, plain_graphs


@pytest.fixture
def store():
    return packed([Plain([0, 1], [(0, 1, 0), (1, 0, 1)]), Plain([5], [])])


@settings(max_examples=25, deadline=None)
@given(graphs=plain_graphs())
def test_what_is_opened_is_what_was_saved(tmp_path_factory, graphs):
    path, before = tmp_path_factory.mktemp("store") / "a.graphs", packed(graphs)
    save_store(before, path, {"made": "here"}, {"rows": np.arange(3)})
    after = open_store(path)
    assert_same_store(before, after)
    assert read_notes(path) == {"made": "here"}
    assert read_extra(path)["rows"].tolist() == [0, 1, 2]
    assert after.batch([0]).x.equal(before.batch([0]).x)


def test_arrays_stay_on_disk_and_survive_a_replaced_file(tmp_path, store):
    path = tmp_path / "a.graphs"
    save_store(store, path)
    opened = open_store(path)
    assert isinstance(opened.x.base, np.memmap)
    with pytest.raises(ValueError, match="read-only"):
        opened.x[0, 0] = 1
    save_store(store.select([1]), path)
    assert_same_store(opened, store)
    assert len(open_store(path)) == 1


def test_a_store_without_anything_but_nodes(tmp_path):
    from adgcl.graphs.store.store import pack

    bare = pack([1, 3], [0, 0], [])
    save_store(bare, tmp_path / "a.graphs")
    assert_same_store(open_store(tmp_path / "a.graphs"), bare)


@pytest.mark.parametrize("kept", [0, 4, 100, -1])
def test_a_file_that_is_cut_off_says_so(tmp_path, store, kept):
    path = tmp_path / "a.graphs"
    save_store(store, path)
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(DataError, match="truncated" if kept == -1 else "not a packed"):
        open_store(path)
    assert not is_store(path)


@pytest.mark.parametrize(
    "text", [b"smiles,y\nCCO,1\n" * 9, b"", b"\x10" + b"\0" * 7 + b'["no", "store"] ', b"\xff" * 99]
)
def test_another_file_is_not_a_store(tmp_path, text):
    path = tmp_path / "other.graphs"
    path.write_bytes(text)
    assert not is_store(path)
    with pytest.raises(DataError, match="not a packed graph store"):
        open_store(path)


def test_missing_files_and_folders(tmp_path, store):
    assert not is_store(tmp_path)
    with pytest.raises(DataError, match="Cannot open"):
        open_store(tmp_path / "none.graphs")
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError):
        save_store(store, tmp_path / "file" / "a.graphs")


def _rewritten(path, change):
    """The same file with a changed header or changed arrays."""
    from safetensors import safe_open

    with safe_open(path, "numpy") as file:
        arrays, metadata = {name: file.get_tensor(name) for name in file.keys()}, file.metadata()  # noqa: SIM118
    change(arrays, metadata)
    save_file(arrays, path, metadata=metadata)


@pytest.mark.parametrize(
    "change",
    [
        lambda arrays, metadata: arrays.pop("node_ptr"),
        lambda arrays, metadata: arrays.update(in_degree=arrays["in_degree"][:1].copy()),
        lambda arrays, metadata: arrays.update(edge_ptr=arrays["edge_ptr"][::-1].copy()),
        lambda arrays, metadata: arrays.update(node_ptr=np.empty(0, dtype=np.int64)),
        lambda arrays, metadata: metadata.update(task="{}"),
        lambda arrays, metadata: metadata.update(spec="nothing"),
        lambda arrays, metadata: arrays.update(x=arrays["x"].astype(np.float16)),
    ],
    ids=["no pointer", "short", "backwards", "empty", "task", "spec", "type"],
)
def test_a_damaged_store_says_so(tmp_path, store, change):
    path = tmp_path / "a.graphs"
    save_store(store, path)
    _rewritten(path, change)
    with pytest.raises(DataError, match=r"damaged|unknown type"):
        open_store(path)


def test_a_header_that_lies_about_a_shape(tmp_path, store):
    path = tmp_path / "a.graphs"
    save_store(store, path)
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    header["x"]["shape"] = [10**6, 1]
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(len(text).to_bytes(8, "little") + text + data[8 + length :])
    with pytest.raises(DataError, match="cannot hold"):
        open_store(path)


def test_packed_strings_are_a_sequence():
    words = ["", "é", "naïve 分子", "CCO"]
    strings = PackedStrings.of(words)
    assert list(strings) == words
    assert (strings[-1], strings[1:3], len(strings)) == ("CCO", words[1:3], 4)
    assert PackedStrings.of(strings) is strings
    assert PackedStrings.of([]).ends.tolist() == [0]
    with pytest.raises(IndexError):
        strings[4]
