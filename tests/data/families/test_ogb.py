"""The ogbg-mol sets, read from OGB's tables."""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from adgcl.core.errors import DataError, DataMissingError
from adgcl.data.families import ogb
from adgcl.data.load import load_dataset

ENTRIES = {entry.name: entry for entry in ogb.entries()}
# graphs, tasks, train, average atoms and bonds as OGB states them
FACTS = {
    "ogbg-molesol": (1128, 1, 902, 13.3, 13.7),
    "ogbg-mollipo": (4200, 1, 3360, 27.0, 29.5),
    "ogbg-molfreesolv": (642, 1, 513, 8.7, 8.4),
    "ogbg-molbace": (1513, 1, 1210, 34.1, 36.9),
    "ogbg-molbbbp": (2039, 1, 1631, 24.1, 26.0),
    "ogbg-molclintox": (1477, 2, 1181, 26.2, 27.9),
    "ogbg-moltox21": (7831, 12, 6264, 18.6, 19.3),
    "ogbg-molsider": (1427, 27, 1141, 33.6, 35.4),
    "ogbg-molhiv": (41127, 1, 32901, 25.5, 27.5),
    "ogbg-molmuv": (93087, 17, 74469, 24.2, 26.3),
    "ogbg-moltoxcast": (8576, 617, 6860, 18.8, 19.3),
}


@pytest.mark.parametrize("name", FACTS)
def test_sets_are_as_ogb_states(data_dir, name):
    entry, (graphs, tasks, train, atoms, bonds) = ENTRIES[name], FACTS[name]
    assert entry.is_here(data_dir)
    dataset = entry.load(data_dir)
    store = dataset.store
    assert (len(dataset), dataset.task.num_tasks, len(dataset.split["train"])) == (graphs, tasks, train)
    assert store.num_nodes / graphs == pytest.approx(atoms, abs=0.051)
    assert store.num_edges / graphs / 2 == pytest.approx(bonds, abs=0.051)
    assert store.edge_reverse.shape == (store.num_edges,)
    assert (store.x.max(axis=0) < store.spec.node.sizes).all()
    assert (store.edge_attr.max(axis=0) < store.spec.edge.sizes).all()
    assert len(dataset.smiles) == graphs and len(dataset.task.names) == tasks
    assert dataset.task.metric == ("rmse" if dataset.task.kind == "regression" else "rocauc")
    labels = store.y[np.isfinite(store.y)]
    assert dataset.task.kind == "regression" or set(labels) == {0.0, 1.0}


def test_missing_labels_are_nan(data_dir):
    y = ENTRIES["ogbg-moltox21"].load(data_dir).store.y
    assert int(np.isnan(y).sum()) == 16026 and int(np.nansum(y)) == 5862


def test_graphs_are_rows_of_the_files(data_dir):
    folder = data_dir / "ogb/ogbg_molesol/raw"
    dataset = ENTRIES["ogbg-molesol"].load(data_dir)
    nodes = np.loadtxt(folder / "num-node-list.csv.gz", dtype=int)
    x = np.loadtxt(folder / "node-feat.csv.gz", delimiter=",", dtype=int)
    assert np.array_equal(dataset.store.node_counts, nodes) and np.array_equal(dataset.store.x, x)
    edge = np.loadtxt(folder / "edge.csv.gz", delimiter=",", dtype=int)
    codes = np.loadtxt(folder / "edge-feat.csv.gz", delimiter=",", dtype=int)
    first, graph = (
        dataset.store.select([0]),
        edge[: np.loadtxt(folder / "num-edge-list.csv.gz", dtype=int)[0]],
    )
    pairs = {(s, t): c for s, t, c in zip(first.edge_source, first.edge_target(), first.edge_attr.tolist())}
    expected = {(s, t): c for (s, t), c in zip(graph, codes.tolist())} | {
        (t, s): c for (s, t), c in zip(graph, codes.tolist())
    }
    assert {(int(s), int(t)): c for (s, t), c in pairs.items()} == expected


def test_reconstructed_files_say_so(data_dir):
    assert "Not OGB's own" in ENTRIES["ogbg-mollipo"].load(data_dir).origin.note
    assert ENTRIES["ogbg-molesol"].load(data_dir).origin.note == ""


@pytest.mark.parametrize("place", ["ogb/ogbg_molesol", "ogbg_molesol", "ogb/esol"])
def test_places(data_dir, tmp_path, place):
    (tmp_path / place).parent.mkdir(exist_ok=True)
    (tmp_path / place).symlink_to(data_dir / "ogb/ogbg_molesol")
    assert ENTRIES["ogbg-molesol"].is_here(tmp_path)
    assert len(ENTRIES["ogbg-molesol"].load(tmp_path)) == 1128


def damaged(data_dir, tmp_path):
    folder = tmp_path / "ogb/ogbg_molfreesolv"
    shutil.copytree(data_dir / "ogb/ogbg_molfreesolv", folder, copy_function=shutil.copyfile)
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o755)
    return folder


def test_damaged_files(data_dir, tmp_path):
    folder, load = damaged(data_dir, tmp_path), ENTRIES["ogbg-molfreesolv"].load
    nodes = folder / "raw/node-feat.csv.gz"
    whole = nodes.read_bytes()
    nodes.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match="node-feat"):
        load(tmp_path)
    nodes.write_bytes(gzip.compress(b"1,2\n"))
    with pytest.raises(DataError, match="2 columns instead of 9"):
        load(tmp_path)
    nodes.write_bytes(gzip.compress(b"a,b,c,d,e,f,g,h,i\n"))
    with pytest.raises(DataError, match="not all numbers"):
        load(tmp_path)
    nodes.unlink()
    with pytest.raises(DataMissingError, match="node-feat"):
        load(tmp_path)
    nodes.write_bytes(whole)
    (folder / "split/scaffold/test.csv.gz").write_bytes(gzip.compress(b"0\n"))
    with pytest.raises(DataError, match="does not divide"):
        load(tmp_path)


def test_absent_set(tmp_path):
    entry = ENTRIES["ogbg-molesol"]
    assert not entry.is_here(tmp_path)
    with pytest.raises(DataMissingError, match="ogbg-molesol is not in"):
        entry.load(tmp_path)


def test_entries_are_cheap_and_complete():
    code = (
        "import sys; from adgcl.data.families import ogb, zinc, moleculenet, freesolv;"
        "from adgcl.data.text import smiles_table;"
        "n = sum(len(m.entries()) for m in (ogb, zinc, moleculenet, freesolv));"
        "print(n, [m for m in ('torch', 'rdkit', 'pyarrow', 'pandas', 'sklearn') if m in sys.modules])"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert done.stdout.strip() == "27 []", done.stderr
    for entry in ENTRIES.values():
        assert entry.origin.licence == "MIT" and entry.origin.citation
        assert entry.downloads[0].url.endswith(".zip") and entry.downloads[0].unpack


@pytest.mark.parametrize("name", ["ogbg-molbace", "ogbg-moltox21"])
def test_other_features_are_computed_from_the_smiles(name: str, data_dir: Path) -> None:
    own, hu = load_dataset(name, data_dir=data_dir), load_dataset(name, data_dir=data_dir, atom_features="hu")
    assert hu.store.spec.name == "hu" and len(hu) + len(hu.bad_rows) == len(own)
    assert hu.rows is not None and hu.split is not None and own.split is not None
    np.testing.assert_array_equal(hu.store.y, own.store.y[hu.rows])
    assert list(hu.smiles) == [own.smiles[row] for row in hu.rows]
    for part, ids in hu.split.items():
        assert set(hu.rows[ids]) == set(own.split[part]) & set(hu.rows)
