"""The built-in set."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import numpy as np

from adgcl.data.families import freesolv, ogb


def test_every_row_is_ogbs(data_dir: Path) -> None:
    place = Path(freesolv.__file__).with_name("freesolv.csv")
    with place.open(encoding="utf-8", newline="") as file:
        ours = [(row["smiles"], row["iupac"], float(row["expt"])) for row in csv.DictReader(file)]
    with gzip.open(data_dir / "ogb/ogbg_molfreesolv/mapping/mol.csv.gz", "rt", encoding="utf-8", newline="") as file:
        theirs = [(row["smiles"], row["mol_id"], float(row["expt"])) for row in csv.DictReader(file)]
    different = [(one, other) for one, other in zip(ours, theirs, strict=True) if one != other]
    # One value is written as MoleculeNet has it.
    name = ("CS(=O)C", "methylsulfinylmethane")
    assert different == [((*name, -9.280000000000001), (*name, -9.28))]


def test_it_is_ogbs_freesolv(data_dir: Path) -> None:
    ours = freesolv.load_freesolv()
    theirs = next(e for e in ogb.entries() if e.name == "ogbg-molfreesolv").load(data_dir)
    # OGB's features of stereocentres and double bonds depend on how the SMILES were written, ours do not.
    plain = np.array([not set(text) & set("@/\\") for text in ours.smiles])
    assert plain.sum() == 580 and np.array_equal(ours.store.node_ptr, theirs.store.node_ptr)
    for name in ("node_ptr", "edge_ptr", "edge_source", "in_degree", "x", "edge_attr"):
        assert np.array_equal(getattr(ours.store.select(plain), name), getattr(theirs.store.select(plain), name)), name
    assert np.abs(ours.store.y - theirs.store.y).max() < 1e-14
    for part in ("train", "valid", "test"):
        assert np.array_equal(ours.split[part], theirs.split[part])
    assert ours.smiles == theirs.smiles
    assert ours.store.spec == theirs.store.spec and ours.task.metric == "rmse"


def test_it_needs_no_data_folder(tmp_path: Path) -> None:
    (entry,) = freesolv.entries()
    assert entry.name == "freesolv" and entry.is_here(tmp_path)
    dataset = entry.load(tmp_path)
    assert len(dataset) == 642 and dataset.store.id_of(2) == "3-methylbut-1-ene"
