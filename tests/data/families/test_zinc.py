"""ZINC: the labelled 12,000, and SMILES files to pre-train on."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from adgcl.core.errors import DataError, DataMissingError
from adgcl.data.families import zinc
from adgcl.data.load import load_dataset
from adgcl.data.text.csv_columns import TextColumn

ENTRIES = {entry.name: entry for entry in zinc.entries()}


def test_zinc12k(data_dir):
    dataset = ENTRIES["ZINC"].load(data_dir)
    store = dataset.store
    assert {name: len(rows) for name, rows in dataset.split.items()} == {
        "train": 10000,
        "valid": 1000,
        "test": 1000,
    }
    assert store.num_nodes == 277727 and store.num_edges == 597516
    assert dataset.task.metric == "mae" and not dataset.task.higher_is_better
    assert store.spec.node.sizes == (28,) and store.spec.edge.sizes == (4,)
    assert set(np.unique(store.edge_attr)) == {1, 2, 3}
    assert store.y[dataset.split["test"]].mean() == pytest.approx(0.012, abs=1e-3)
    assert "another random draw" in dataset.origin.note
    assert len(dataset.smiles) == 12000


def test_zinc12k_graphs_are_those_of_the_file(data_dir):
    store = ENTRIES["ZINC"].load(data_dir).store
    with np.load(data_dir / "zinc/zinc12k.npz") as file:
        edge_ends = np.cumsum(file["num_edges"].astype(int))
        for number in (0, 5000, 11999):
            edges = slice(edge_ends[number] - file["num_edges"][number], edge_ends[number])
            source, target = file["edge_index"][:, edges]
            order = np.lexsort((source, target))
            graph = store.select([number])
            assert np.array_equal(graph.edge_source, source[order])
            assert np.array_equal(graph.edge_target(), target[order])
            assert np.array_equal(graph.edge_attr[:, 0], file["edge_type"][edges][order])


def test_zinc_2m_is_the_users_own_file(tmp_path):
    with pytest.raises(DataMissingError, match="ZINC-2M") as caught:
        load_dataset("zinc-2m", data_dir=tmp_path, cache=False)
    assert "column `smiles`" in (caught.value.hint or "") and "zinc2m/zinc2m.csv.gz" in (caught.value.hint or "")
    (tmp_path / "zinc2m").mkdir()
    with gzip.open(tmp_path / "zinc2m/zinc2m.csv.gz", "wt") as file:
        file.write("smiles,zinc_id\nCCO,1\nC1CC,2\nCCN,3\n")
    dataset = load_dataset("ZINC-2M", data_dir=tmp_path, cache=False)
    assert dataset.name == "ZINC-2M" and dataset.rows.tolist() == [0, 2] and dataset.store.spec.name == "hu"
    assert [bad.line for bad in dataset.bad_rows] == [3]


def test_names(data_dir):
    assert ENTRIES["ZINC"].aliases == ("ZINC-12K", "ZINC-10K")
    assert all(entry.is_here(data_dir) for entry in ENTRIES.values() if not entry.by_hand)
    assert "stand-in" in ENTRIES["MOSES"].origin.note.lower()


def cut(data_dir, tmp_path, name, lines):
    """The first lines of a large file, at the same place below another folder."""
    target = tmp_path / name
    target.parent.mkdir(exist_ok=True)
    with gzip.open(data_dir / name, "rt") as source, gzip.open(target, "wt") as sink:
        sink.writelines(line for line, _ in zip(source, range(lines)))


def test_zinc250k(data_dir, tmp_path):
    cut(data_dir, tmp_path, "zinc250k/zinc250k.csv.gz", 301)
    dataset = ENTRIES["ZINC-250K"].load(tmp_path)
    assert len(dataset) == 300 and dataset.task.kind == "none" and dataset.store.y is None
    assert dataset.store.spec.name == "hu" and len(dataset.smiles) == 300
    assert zinc.ZINC250K.load(tmp_path, "ogb").store.spec.name == "ogb"


def test_moses_joins_its_three_files(data_dir, tmp_path):
    for number, file in enumerate(("train", "test", "test_scaffolds")):
        cut(data_dir, tmp_path, f"moses/{file}.csv.gz", 101 + number)
    done = []
    dataset = zinc.MOSES.load(tmp_path, progress=lambda *counts: done.append(counts))
    assert len(dataset) == 303 and dataset.smiles is None and dataset.store.ids is None
    assert done == [(303, 303)] and dataset.bad_rows == ()


def test_moses_files_hold_what_they_say(data_dir):
    assert len(TextColumn([data_dir / "moses/test.csv.gz"], "SMILES")) == 176074


def test_text_column(tmp_path):
    for name in "ab":
        (tmp_path / name).write_text("n,smiles\n1,C\n2,CC\n3,CCC\n")
    column = TextColumn([tmp_path / "a", tmp_path / "b"], "smiles")
    assert list(column) == ["C", "CC", "CCC"] * 2
    assert column[-1] == "CCC" and column[1:4] == ["CC", "CCC", "C"] and column[::2] == ["C", "CCC", "CC"]
    with pytest.raises(IndexError):
        column[6]
    with pytest.raises(DataError, match="x"):
        TextColumn([tmp_path / "a"], "x")


def test_damaged_and_absent(tmp_path):
    with pytest.raises(DataMissingError, match=r"zinc12k.npz"):
        ENTRIES["ZINC"].load(tmp_path)
    with pytest.raises(DataMissingError, match="zinc250k"):
        ENTRIES["ZINC-250K"].load(tmp_path)
    (tmp_path / "zinc").mkdir()
    (tmp_path / "zinc/zinc12k.npz").write_bytes(b"nothing")
    with pytest.raises(DataError, match="Cannot read"):
        ENTRIES["ZINC"].load(tmp_path)
    np.savez(tmp_path / "zinc/zinc12k.npz", y=np.zeros(3))
    with pytest.raises(DataError, match="num_nodes"):
        ENTRIES["ZINC"].load(tmp_path)
