"""Descriptors are RDKit's own, one at a time."""

from __future__ import annotations

import numpy as np
import pytest
from rdkit import Chem
from rdkit.Chem import Crippen, Descriptors, rdMolDescriptors

from adgcl.core.errors import DataError
from adgcl.data.describing import described, is_described
from adgcl.data.load import load_dataset
from adgcl.graphs.chem.descriptors import descriptor_names, descriptors

SMILES = ["CCO", "c1ccccc1O", "CC(=O)Nc1ccc(O)cc1", "C[C@H](N)C(=O)O", "[Na+].[Cl-]", "C"]


def column(name: str) -> np.ndarray:
    return descriptors(SMILES)[:, descriptor_names().index(name)]


@pytest.mark.parametrize(
    ("name", "oracle"),
    [
        ("CrippenClogP", Crippen.MolLogP),
        ("exactmw", Descriptors.ExactMolWt),
        ("tpsa", rdMolDescriptors.CalcTPSA),
        ("NumRotatableBonds", rdMolDescriptors.CalcNumRotatableBonds),
        ("PEOE_VSA1", Descriptors.PEOE_VSA1),
        ("SMR_VSA10", Descriptors.SMR_VSA10),
        ("SlogP_VSA2", Descriptors.SlogP_VSA2),
        ("MQNs1", lambda mol: rdMolDescriptors.MQNs_(mol)[0]),
    ],
)
def test_values_are_those_of_the_single_functions(name: str, oracle) -> None:
    wanted = [oracle(Chem.MolFromSmiles(text)) for text in SMILES]
    np.testing.assert_allclose(column(name), wanted, rtol=1e-9)


def test_every_column_has_a_name_and_processes_agree() -> None:
    values = descriptors(SMILES * 400, workers=2)
    assert values.shape == (2400, len(descriptor_names())) and len(set(descriptor_names())) == values.shape[1]
    np.testing.assert_array_equal(values, np.tile(descriptors(SMILES), (400, 1)))


def test_what_has_no_value_is_missing() -> None:
    assert not np.isinf(descriptors(["*", "[U]", "[Pt](Cl)(Cl)(N)N"])).any()


def test_they_become_the_labels_of_a_dataset() -> None:
    dataset = load_dataset(SMILES)
    labelled = described(dataset)
    assert is_described(labelled.task) and not is_described(dataset.task)
    np.testing.assert_array_equal(labelled.store.y, descriptors(SMILES))


def test_graphs_without_smiles_have_none(data_dir) -> None:
    with pytest.raises(DataError, match="MUTAG has no SMILES"):
        described(load_dataset("MUTAG", data_dir=data_dir))
