"""The encoders that come with the package are the files that their pages describe."""

from __future__ import annotations

import hashlib
import re

import numpy as np
import pytest
from rdkit import Chem

from adgcl.data.load import load_dataset
from adgcl.estimators import GraphEmbedder
from adgcl.training.packaged import packaged_encoders, packaged_file
from adgcl.training.runs import load_run
from adgcl.training.start import encoder_origin

SMILES = ["CCO", "c1ccccc1O", "CC(=O)Nc1ccc(O)cc1", "C[C@H](N)C(=O)O", "[Na+].[Cl-]"]
NAMES = ("zinc-gin", "zinc-gin-descriptors")


def page(name: str) -> str:
    return packaged_file(name).with_suffix(".md").read_text(encoding="utf-8")


def test_both_are_there_and_described_in_plain_text() -> None:
    assert tuple(packaged_encoders()) == NAMES and all(packaged_encoders().values())
    assert not any(mark in text for text in packaged_encoders().values() for mark in "[]()`*")


@pytest.mark.parametrize("name", NAMES)
def test_a_file_is_the_one_its_page_is_about(name: str) -> None:
    content = packaged_file(name).read_bytes()
    assert len(content) < 5_000_000
    assert hashlib.sha256(content).hexdigest() in page(name)
    origin = encoder_origin(name)
    assert origin["checksum"] in page(name) and origin["data"] == "ZINC-250K" and origin["graphs"] == 249_455
    assert re.search(rf"\| length \| {origin['epochs']} epochs?\b", page(name))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("heading", ["How it was made", "How good it is", "What it is not", "Licence"])
def test_a_page_says_what_a_user_must_know(name: str, heading: str) -> None:
    assert f"\n## {heading}\n" in page(name)


@pytest.mark.parametrize("name", NAMES)
def test_vectors_tell_molecules_apart_and_not_their_spellings(name: str) -> None:
    embedder = GraphEmbedder.from_pretrained(name)
    vectors = embedder.transform(SMILES)
    assert vectors.shape == (5, 300) and np.isfinite(vectors).all()
    apart = np.linalg.norm(vectors[:, None] - vectors, axis=2)[~np.eye(5, dtype=bool)].min()
    respelled = [Chem.MolToSmiles(Chem.MolFromSmiles(text), doRandom=True) for text in SMILES]
    assert np.abs(embedder.transform(respelled) - vectors).max() < 1e-3 * apart


@pytest.mark.parametrize("name", NAMES)
def test_a_vector_does_not_depend_on_its_company(name: str) -> None:
    run = load_run(name)
    together = run.embed(load_dataset(SMILES, atom_features="hu"))
    alone = np.concatenate([run.embed(load_dataset([text], atom_features="hu")) for text in SMILES])
    np.testing.assert_allclose(together, alone, rtol=1e-4, atol=1e-4 * np.abs(alone).max())
