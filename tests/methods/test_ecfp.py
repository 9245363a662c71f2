"""ECFP as a method: the bits RDKit sets, odd molecules, and what needs SMILES says so."""

from __future__ import annotations

import numpy as np
import pytest

from adgcl.core.errors import DataError
from adgcl.data.dataset import Dataset, Origin
from adgcl.data.load import load_dataset
from adgcl.estimators import GraphEmbedder
from adgcl.experiments.application import embed_data
from adgcl.experiments.planning import Request, plan
from adgcl.experiments.pretraining import pretrain
from adgcl.experiments.source import Source
from adgcl.graphs.chem.morgan import morgan_fingerprints
from adgcl.jobs import chunks
from tests.graph_cases import random_store

MOLECULES = ["CCO", "c1ccccc1O", "CC(=O)Oc1ccccc1C(=O)O"]


@pytest.mark.parametrize("radius, bits", [(2, 2048), (3, 1024), (0, 64), (2, 100)])
def test_bits_are_those_of_rdkit(radius, bits):
    from rdkit import Chem
    from rdkit.Chem import AllChem

    rows = morgan_fingerprints(MOLECULES, radius, bits)
    for row, text in zip(rows, MOLECULES):
        expected = AllChem.GetMorganFingerprintAsBitVect(Chem.MolFromSmiles(text), radius, bits)
        assert np.flatnonzero(row).tolist() == list(expected.GetOnBits())
    assert rows.dtype == np.float32 and rows.shape == (3, bits)


def test_chunks_come_back_in_order(monkeypatch):
    monkeypatch.setattr(chunks, "CHUNK", 3)
    many = [f"{'C' * (i % 7 + 1)}O{'N' * (i % 3)}" for i in range(20)]
    each = np.concatenate([morgan_fingerprints([text]) for text in many])
    np.testing.assert_array_equal(morgan_fingerprints(many), each)


def test_molecules_of_public_sets_that_rdkit_refuses_still_have_neighbourhoods():
    from rdkit import Chem, rdBase

    odd = "[O-][N+](=O)c1ccc(cc1)N(C)(C)C"  # a nitrogen with four bonds and no charge
    with rdBase.BlockLogs():
        assert Chem.MolFromSmiles(odd) is None
    rows = morgan_fingerprints([odd, odd.replace("N(C)(C)C", "[N+](C)(C)C")])
    assert rows[0].sum() > 5 and (rows[0] * rows[1]).sum() > rows[0].sum() / 2
    with pytest.raises(DataError, match="RDKit cannot read 'not a molecule'"):
        morgan_fingerprints(["CCO", "not a molecule"])


def test_graphs_without_smiles_are_refused_before_any_work():
    social = Dataset("IMDB", random_store(), Origin("tu"))
    with pytest.raises(DataError, match="IMDB has no SMILES to compute fingerprints from") as caught:
        plan(social, Request("ecfp"))
    assert "adgcl methods" in caught.value.hint


def test_a_run_folder_embeds_new_molecules(tmp_path):
    old = load_dataset(["CCN", "CCCl", "c1ccccc1"])
    run = pretrain(Source(old), tmp_path / "run", Request("ecfp", flags={"method": {"bits": 256}})).folder
    table = tmp_path / "new.csv"
    table.write_text("smiles\n" + "\n".join([*MOLECULES[:2], "nonsense", MOLECULES[2]]) + "\n")
    embedded = embed_data(run, Source(table))
    assert embedded.matrix.shape == (4, 256) and np.isnan(embedded.matrix[2]).all()
    np.testing.assert_array_equal(embedded.matrix[[0, 1, 3]], morgan_fingerprints(MOLECULES, bits=256))


def test_the_estimator_takes_fingerprints():
    embedder = GraphEmbedder("ecfp", settings={"method": {"bits": 128}})
    np.testing.assert_array_equal(embedder.fit_transform(MOLECULES), morgan_fingerprints(MOLECULES, bits=128))
    assert len(embedder.get_feature_names_out()) == 128
