"""MoleculeNet's tables."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from adgcl.core.errors import DataMissingError
from adgcl.data.families import moleculenet, ogb
from adgcl.data.text.csv_columns import read_table

ENTRIES = {entry.name: entry for entry in moleculenet.entries()}
OGB = {entry.name: entry for entry in ogb.entries()}


@pytest.mark.parametrize("short", ["bbbp", "bace", "clintox", "esol", "freesolv"])
def test_tables_agree_with_ogb(data_dir, short):
    ours = ENTRIES[f"moleculenet-{short}"].load(data_dir)
    theirs = OGB[f"ogbg-mol{short}"].load(data_dir)
    assert len(ours) == len(theirs) and ours.bad_rows == ()
    assert np.allclose(ours.store.y, theirs.store.y, equal_nan=True)
    assert ours.task.kind == theirs.task.kind and ours.store.spec.name == "hu"
    for part in ("train", "valid", "test"):
        assert np.array_equal(ours.split[part], theirs.split[part])
    assert np.array_equal(ours.store.node_ptr, theirs.store.node_ptr)
    # Both feature sets number the elements from 0; atoms of stereoisomers stand in canonical order with us.
    graph = np.repeat(np.arange(len(ours)), ours.store.node_counts)
    elements = [store.x[np.lexsort((store.x[:, 0], graph)), 0] for store in (ours.store, theirs.store)]
    assert np.array_equal(*elements)


def test_unreadable_rows_are_reported_and_the_split_keeps_its_rows(data_dir):
    dataset = ENTRIES["moleculenet-tox21"].load(data_dir)
    texts, labels = read_table(data_dir / "moleculenet/tox21.csv.gz", ("smiles",))
    assert len(dataset) + len(dataset.bad_rows) == 7831 and len(dataset.bad_rows) <= 8
    with gzip.open(data_dir / "moleculenet/tox21.csv.gz", "rt") as file:
        lines = file.read().splitlines()
    for bad in dataset.bad_rows:
        assert lines[bad.line - 1].startswith(bad.text) and "valence" in bad.reason
    y = np.stack(list(labels.values()), axis=1)
    assert np.array_equal(dataset.store.y, y[dataset.rows], equal_nan=True)
    assert [dataset.smiles[i] for i in (0, 4000, -1)] == [texts["smiles"][dataset.rows[i]] for i in (0, 4000, -1)]
    published = OGB["ogbg-moltox21"].load(data_dir).split
    for part in ("train", "valid", "test"):
        assert np.array_equal(dataset.rows[dataset.split[part]], np.intersect1d(published[part], dataset.rows))


def test_all_eleven_are_declared(data_dir):
    assert len(ENTRIES) == 11
    assert all(entry.is_here(data_dir) and entry.origin.note for entry in ENTRIES.values())
    assert {e.origin.paper_name for e in ENTRIES.values()} >= {"BBBP", "Tox21", "ToxCast", "SIDER", "ClinTox"}


@pytest.mark.parametrize("short, tasks", [("muv", 17), ("toxcast", 617), ("sider", 27), ("hiv", 1)])
def test_headers(data_dir, short, tasks):
    with gzip.open(data_dir / f"moleculenet/{short}.csv.gz", "rt") as file:
        header = file.readline()
    assert header.startswith("smiles,") and ENTRIES[f"moleculenet-{short}"].task.num_tasks == tasks


def test_absent_table(tmp_path):
    with pytest.raises(DataMissingError, match="moleculenet-bbbp is not in"):
        ENTRIES["moleculenet-bbbp"].load(tmp_path)
