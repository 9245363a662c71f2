"""`load_dataset`: names, paths, objects in memory, and the cache behind them."""

from __future__ import annotations

import os
import warnings
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
import torch
from rdkit import Chem
from torch_geometric.data import Data

from adgcl.core.errors import ConfigError, DataError, DataMissingError, UnknownNameError
from adgcl.data import cache, load
from adgcl.data.catalog import find_entry
from adgcl.data.dataset import BadRow, Dataset, Origin
from adgcl.data.load import load_dataset, prepare
from adgcl.data.packed import open_dataset, save_dataset
from adgcl.data.text.smiles_table import load_smiles_table
from adgcl.graphs.store.storage import save_store
from tests.graph_strategies import Plain, assert_same_store, packed
from tests.real_data import absent


@pytest.fixture(autouse=True)
def packed_here(monkeypatch, tmp_path):
    monkeypatch.setenv("ADGCL_CACHE", str(tmp_path / "packed"))
    return tmp_path / "packed"


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("smiles,label,name\nCCO,1,ethanol\nnonsense,0,none\nc1ccccc1,0,benzene\nC,,methane\n")
    return path


@pytest.fixture
def tu_folder(tmp_path):
    folder = tmp_path / "own set"
    folder.mkdir()
    parts = {"A": "1, 2\n2, 1\n", "graph_indicator": "1\n1\n2\n", "graph_labels": "1\n2\n"}
    for part, text in parts.items():
        (folder / f"MINE_{part}.txt").write_text(text)
    return folder


def assert_same_dataset(one: Dataset, other: Dataset) -> None:
    assert_same_store(one.store, other.store)
    assert (one.name, one.origin, one.bad_rows) == (other.name, other.origin, other.bad_rows)
    assert (one.mixtures, one.columns) == (other.mixtures, other.columns)
    for name in ("rows", "smiles"):
        a, b = getattr(one, name), getattr(other, name)
        assert (None if a is None else list(a)) == (None if b is None else list(b))
    assert (one.split is None) == (other.split is None)
    for part in one.split or {}:
        np.testing.assert_array_equal(one.split[part], other.split[part])


def test_everything_of_a_dataset_survives_packing(tmp_path):
    dataset = Dataset(
        "full",
        packed([Plain([0, 1], [(0, 1, 0), (1, 0, 1)]), Plain([5], [])]),
        Origin("test", "here", "free", "nobody", "a note"),
        split={"train": np.array([0]), "valid": np.array([], dtype=np.int64), "test": np.array([1])},
        bad_rows=(BadRow(3, "C(C", "unclosed é"), BadRow(9, "", "empty")),
        rows=np.array([0, 3]),
        smiles=("CC", "[Na+]"),
        mixtures=7,
        columns=("name", "log é"),
    )
    save_dataset(dataset, tmp_path / "a.graphs", "stamp")
    assert_same_dataset(open_dataset(tmp_path / "a.graphs"), dataset)
    bare = Dataset("bare", dataset.store, Origin("test"))
    save_dataset(bare, tmp_path / "b.graphs")
    assert_same_dataset(open_dataset(tmp_path / "b.graphs"), bare)


@pytest.mark.parametrize("name", ["MUTAG", "ogbg-molfreesolv", "ZINC"])
def test_a_known_set_is_packed_once_and_the_same_ever_after(data_dir, packed_here, monkeypatch, name):
    entry = find_entry(name)
    if not entry.is_here(data_dir):
        absent(f"{name} is not in {data_dir}.")
    fresh = load_dataset(name, data_dir=data_dir, cache=False)
    assert not packed_here.exists()
    first = load_dataset(name.lower(), data_dir=data_dir)
    assert [path.name.partition("-")[0] for path in packed_here.iterdir()] == [name.partition("-")[0]]
    monkeypatch.setattr(cache, "save_dataset", lambda *_: pytest.fail("packed twice"))
    second = load_dataset(name, data_dir=data_dir)
    assert_same_dataset(first, fresh)
    assert_same_dataset(second, fresh)
    assert isinstance(second.store.edge_source.base, np.memmap)


def test_a_changed_or_damaged_source_is_read_again(table, packed_here):
    first = load_dataset(table)
    (place,) = packed_here.iterdir()
    table.write_text(table.read_text() + "CCCC,1,butane\n")
    assert len(load_dataset(table)) == len(first) + 1
    place.write_bytes(b"damaged")
    assert len(load_dataset(table)) == len(first) + 1
    os.utime(table, (1, 1))
    stamp = place.read_bytes()
    load_dataset(table)
    assert place.read_bytes() != stamp
    assert [path.name for path in packed_here.iterdir()] == [place.name]


def test_the_code_that_reads_is_part_of_the_stamp(table, monkeypatch):
    source = cache.RawData("x", (table,))
    before = source.stamp()
    assert source.stamp() == before
    monkeypatch.setattr(cache, "_reader_version", lambda: "another")
    assert source.stamp() != before


def test_a_cache_that_cannot_be_written_warns_once(table, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ADGCL_CACHE", str(tmp_path / "file" / "packed"))
    with pytest.warns(UserWarning, match="Set ADGCL_CACHE"):
        assert len(load_dataset(table)) == 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(load_dataset(table)) == 3


def test_tables_of_smiles_with_their_options(table, packed_here):
    dataset = load_dataset(str(table))
    assert_same_dataset(dataset, load_smiles_table(table))
    assert [bad.line for bad in dataset.bad_rows] == [3]
    assert list(dataset.rows) == [0, 2, 3]
    assert np.isnan(dataset.store.y[2, 0])
    other = load_dataset(table, label_columns=[], atom_features="hu", workers=1)
    assert (other.store.spec.name, other.task.kind) == ("hu", "none")
    assert len(list(packed_here.iterdir())) == 2
    with pytest.raises(UnknownNameError, match="smiles_column"):
        load_dataset(table, smile_column="smiles")


def test_tu_folders_zips_and_packed_files(tu_folder, tmp_path):
    import shutil

    dataset = load_dataset(tu_folder)
    assert (dataset.name, len(dataset)) == ("MINE", 2)
    archive = shutil.make_archive(str(tmp_path / "archive"), "zip", tu_folder)
    assert_same_store(load_dataset(archive).store, dataset.store)
    save_dataset(dataset, tmp_path / "whole.graphs")
    assert_same_dataset(load_dataset(tmp_path / "whole.graphs"), dataset)
    save_store(dataset.store, tmp_path / "alone.graphs")
    alone = load_dataset(tmp_path / "alone.graphs")
    assert (alone.name, alone.origin.family) == ("alone", "packed")
    with pytest.raises(ConfigError, match="takes no option label_columns"):
        load_dataset(tu_folder, label_columns=["a"])


def test_features_are_chosen_after_packing(tu_folder, packed_here):
    degrees = load_dataset(tu_folder, features="degrees", degree_cap=5)
    assert degrees.store.x[:, 0].tolist() == [1, 1, 0]
    assert degrees.store.spec.node.sizes == (6,)
    assert load_dataset(tu_folder, features="constant").store.spec.name == "constant"
    assert load_dataset(tu_folder).store.x is None
    assert len(list(packed_here.iterdir())) == 1
    with pytest.raises(UnknownNameError, match="'degrees'"):
        load_dataset(tu_folder, features="degres")


def test_graphs_in_memory():
    store = packed([Plain([0], [])])
    dataset = load_dataset(store)
    assert (dataset.name, dataset.store) == ("graphs", store)
    assert load_dataset(dataset) is dataset
    assert load_dataset(dataset, features="auto") is dataset
    graphs = [Data(edge_index=torch.tensor([[0], [1]]), num_nodes=2, y=torch.tensor([1.5]))]
    assert load_dataset(graphs).task.kind == "regression"
    assert load_dataset(nx.path_graph(n) for n in (2, 3)).store.num_edges == 6
    named = nx.Graph()
    named.add_node(0, a=1.0, b=2.0)
    assert load_dataset([named], node_attributes=["b"]).store.x_num.tolist() == [[2]]
    molecules = load_dataset(np.array(["CCO", "no", "C"]), y=[1.0, 2.0, 3.5])
    assert (len(molecules), molecules.store.y[:, 0].tolist(), molecules.bad_rows[0].line) == (2, [1, 3.5], 2)
    assert load_dataset(["CCO"], atom_features="hu").store.spec.name == "hu"


def test_rdkit_mols_beside_smiles_and_missing_molecules(capfd):
    pandas = pytest.importorskip("pandas")
    mol = Chem.AddHs(Chem.MolFromSmiles("N[C@@H](C)C(=O)O"))
    given = ["C[C@H](N)C(=O)O", mol, None, float("nan"), pandas.NA, "[H+].Cx", Chem.MolFromSmiles("")]
    dataset = load_dataset(given, y=[1.0, 2.5, 3, 4, 5, 6, 7])
    assert dataset.rows.tolist() == [0, 1] and dataset.store.y[:, 0].tolist() == [1, 2.5]
    assert dataset.smiles == ("C[C@H](N)C(=O)O", "C[C@H](N)C(=O)O")
    np.testing.assert_array_equal(dataset.store.x[:6], dataset.store.x[6:])
    reasons = [(bad.line, bad.text, bad.reason.split()[0]) for bad in dataset.bad_rows]
    missing = [(3, "", "missing"), (4, "", "missing"), (5, "", "missing")]
    assert reasons == [*missing, (6, "[H+].Cx", "syntax"), (7, "", "empty")]
    assert len(load_dataset(pandas.Series([mol, None], dtype=object))) == 1
    assert capfd.readouterr() == ("", "")
    with pytest.raises(DataError, match=r"None of 2 SMILES can be read .*missing"):
        load_dataset([None, float("nan")])


def test_salts_are_counted_and_cut_on_demand(table, packed_here):
    table.write_text("smiles,y\nCC(=O)[O-].[Na+],1.5\nCCO,2.5\nO.O,3.5\n")
    whole, cut = load_dataset(table), load_dataset(table, keep_largest_fragment=True)
    assert (whole.mixtures, cut.mixtures) == (2, 2)
    assert whole.store.node_counts.tolist() == [5, 3, 2] and cut.store.node_counts.tolist() == [4, 3, 1]
    assert list(whole.smiles) == ["CC(=O)[O-].[Na+]", "CCO", "O.O"] and list(cut.smiles) == ["CC(=O)[O-]", "CCO", "O"]
    assert len(list(packed_here.iterdir())) == 2
    assert load_dataset(table, keep_largest_fragment=True).mixtures == 2
    listed = load_dataset(["C.CC", "C"], keep_largest_fragment=True)
    assert (listed.mixtures, listed.smiles) == (1, ("CC", "C"))


def test_what_a_dataset_shows(table):
    dataset = load_dataset(table)
    counts = "graphs=3, nodes=10, edges=16, task='binary', features='ogb'"
    assert repr(dataset.store) == f"GraphStore({counts})"
    assert repr(dataset) == f"Dataset('mine', {counts}, bad_rows=1)"
    several = load_dataset(["C.C", "CC"], y=[[1.5, 2], [3, 4]], atom_features="hu")
    assert repr(several) == (
        "Dataset('molecules', graphs=2, nodes=4, edges=2, task='2 x regression', features='hu', mixtures=1)"
    )


WRONG = [[], ["CCO", nx.Graph()], [None, nx.Graph()], [1, 2], ["C", 1], 3, {"a": 1}, None, b"CCO"]


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: type(wrong).__name__)
def test_objects_that_are_no_graphs(wrong):
    with pytest.raises(DataError):
        load_dataset(wrong)


def test_options_where_there_are_none(data_dir):
    with pytest.raises(ConfigError, match="takes no option atom_features"):
        load_dataset(packed([Plain([0], [])]), atom_features="hu")
    with pytest.raises(UnknownNameError, match="'node_attributes'"):
        load_dataset([nx.path_graph(2)], node_attribute=["b"])
    with pytest.raises(ConfigError, match="takes no option y"):
        load_dataset("planted", y=[1])
    with pytest.raises(ConfigError, match="has its own features"):
        load_dataset("planted", atom_features="hu")


def test_a_generated_set_needs_no_folder(packed_here, tmp_path):
    assert len(load_dataset("planted", data_dir=tmp_path / "none")) == 600
    assert not packed_here.exists()


def test_what_is_not_there_says_what_is_near(tmp_path, table):
    with pytest.raises(DataMissingError, match="adgcl data prepare COLLAB"):
        load_dataset("COLLAB", data_dir=tmp_path)
    with pytest.raises(DataError, match=r"called 'MUTAK'.*\n.*Did you mean 'MUTAG'"):
        load_dataset("MUTAK")
    with pytest.raises(DataError, match=r"no file .*mien.csv.*\n.*Did you mean mine.csv"):
        load_dataset(tmp_path / "mien.csv")
    with pytest.raises(DataError, match="Give a known name"):
        load_dataset(tmp_path / "no" / "folder" / "a.csv")
    with pytest.raises(DataError, match="called 'CCCC"):
        load_dataset("C" * 5000)
    with pytest.raises(DataError, match="cannot be read as graphs"):
        load_dataset(tmp_path)
    (tmp_path / "cut.zip").write_bytes(b"PK")
    with pytest.raises(DataError, match="not a complete zip"):
        load_dataset(tmp_path / "cut.zip")
    (tmp_path / "cut.graphs").write_bytes(b"PK")
    with pytest.raises(DataError, match="not a packed"):
        load_dataset(tmp_path / "cut.graphs")


def test_a_name_goes_before_a_folder_of_that_name(data_dir, tu_folder, monkeypatch):
    monkeypatch.chdir(tu_folder.parent)
    tu_folder.rename("MUTAG")
    assert load_dataset("./MUTAG").name == "MINE"
    if not find_entry("MUTAG").is_here(data_dir):
        absent(f"MUTAG is not in {data_dir}.")
    assert len(load_dataset("MUTAG", data_dir=data_dir)) == 188


def test_prepare_brings_and_packs(tu_folder, monkeypatch, tmp_path, packed_here):
    entry = replace(find_entry("MUTAG"), load=lambda folder: load.load_tu(folder / "MUTAG"))

    def bring(entry, folder, progress):
        tu_folder.rename(folder / "MUTAG")

    monkeypatch.setattr(load.catalog, "find_entry", lambda name: entry)
    monkeypatch.setattr(load, "bring", bring)
    assert len(prepare("mutag", tmp_path)) == 2
    assert len(list(packed_here.iterdir())) == 1


def test_progress_reaches_the_readers(table):
    seen = []
    load_dataset(table, progress=lambda *report: seen.append(report))
    assert seen[-1] == ("read mine.csv", 4, 4)
