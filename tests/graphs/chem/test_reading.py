"""A molecule gives the same graph and the same vector however it is written."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
import torch
from rdkit import Chem

from adgcl.data.text.csv_columns import read_table
from adgcl.encoders.base import EncoderConfig, make_encoder
from adgcl.graphs.chem.atoms import feature_spec
from adgcl.graphs.chem.molecules import molecules_to_store
from adgcl.graphs.chem.reading import MAX_LENGTH, as_smiles, in_canonical_order, parse
from adgcl.graphs.kernels.structure import wl_colours

STEREO = "@/\\"

# Rings whose centres depend on each other, meso forms, double bonds in and beside rings, dienes, centres that are not
# carbon, hydrogens that are atoms of their own, isotopes, charges, salts, metals, atom maps, extensions.
AWKWARD = [
    "C[C@H]1CC[C@@H](C)CC1", "C[C@H]1CC[C@H](C)CC1", "O[C@H]1[C@H](O)[C@@H](O)[C@H](O)[C@H](O)[C@@H]1O",
    "Cl[C@H]1[C@H](Cl)[C@@H](Cl)[C@H](Cl)[C@H](Cl)[C@H]1Cl", "C1CC[C@@H]2CCCC[C@@H]2C1", "C[C@H]1C[C@]2(C1)C[C@H](C)C2",
    "O[C@H]1C[C@H]2CC[C@@H](C1)N2C", "OC(=O)[C@H](O)[C@@H](O)C(O)=O", "C[C@H](O)[C@H](C)[C@@H](C)O",
    "C/C=C/[C@H](O)/C=C\\C", "C/C=C1/CC[C@H](C)CC1", "F/C(Cl)=C(/F)Br", "C/C=C/C=C\\C", "C/C(=N\\O)c1ccccc1",
    "C1=C\\CCCCCC/1", "[H]/N=C(/N)C", "C[S@](=O)CC", "F[P@](Cl)Br", "C[N@+](CC)(CCC)c1ccccc1", "[2H][C@H](C)O",
    "C[C@@H](N)C(=O)[O-].[Na+]", "C[C@H](N)C(=O)O.C[C@@H](N)C(=O)O", "F[Pt@SP1](Cl)(Br)I", "C[Co@OH1](F)(Cl)(Br)(I)S",
    "[CH3:1][C@H:2](O)[NH2:3]", "C[C@@](F)(Cl)[C@](F)(Cl)C |o1:1|", "C12C3C4C1C5C2C3C45",
]  # fmt: skip


def real_molecules(data_dir, keep, count):
    """`count` different molecules of four MoleculeNet tables whose SMILES satisfy `keep`."""
    tables = [read_table(data_dir / f"moleculenet/{n}.csv.gz", ("smiles",)) for n in ("bace", "bbbp", "tox21", "lipo")]
    texts = {text.strip() for table, _ in tables for text in table["smiles"] if keep(text)}
    readable = (text for text in random.Random(0).sample(sorted(texts), len(texts)) if parse(text) is not None)
    return [next(readable) for _ in range(count)]


def rewritten(text, times):
    molecule = Chem.MolFromSmiles(text)
    return [Chem.MolToSmiles(molecule, doRandom=True) for _ in range(times)]


def signatures(smiles, features):
    read = molecules_to_store(smiles, features, workers=1)
    assert read.failures == ()
    return signatures_of(read.store)


def signatures_of(store):
    """A hash of each graph, the same for graphs with the same nodes, edges and features in any order."""
    batch = store.batch(np.arange(len(store)))
    total = np.zeros(len(store), dtype=np.uint64)
    np.add.at(total, batch.batch.numpy(), wl_colours(batch, 12)[-1])
    return total


def embeddings(smiles, features):
    torch.manual_seed(0)
    config = EncoderConfig(name="gine", hidden_dim=300)
    encoder = make_encoder(config, feature_spec(features)).eval()
    store = molecules_to_store(smiles, features, workers=1).store
    with torch.no_grad():
        return encoder(store.batch(np.arange(len(store)))).graph_emb.numpy()


def has_stereo(text):
    return any(character in text for character in STEREO)


@pytest.mark.parametrize("features", ["ogb", "hu"])
def test_real_stereochemistry_does_not_depend_on_the_spelling(data_dir, features):
    smiles = real_molecules(data_dir, has_stereo, 100)
    again = [other for text in smiles for other in rewritten(text, 5)]
    assert (signatures(again, features).reshape(-1, 5) == signatures(smiles, features)[:, None]).all()
    vectors = embeddings(smiles, features)
    apart = np.abs(embeddings(again, features).reshape(len(smiles), 5, -1) - vectors[:, None])
    assert apart.max() < 1e-5 * np.abs(vectors).max()


@pytest.mark.parametrize("features", ["ogb", "hu"])
def test_molecules_without_stereochemistry_need_no_second_reading(data_dir, features):
    smiles = real_molecules(data_dir, lambda text: not has_stereo(text), 200)
    again = [other for text in smiles for other in rewritten(text, 3)]
    assert (signatures(again, features).reshape(-1, 3) == signatures(smiles, features)[:, None]).all()
    molecule = Chem.MolFromSmiles(smiles[0])
    assert in_canonical_order(molecule, smiles[0]) is molecule


@pytest.mark.parametrize("features", ["ogb", "hu"])
@pytest.mark.parametrize("text", AWKWARD)
def test_awkward_molecules_do_not_depend_on_the_spelling(text, features):
    assert len(set(signatures([text, *rewritten(text, 40)], features).tolist())) == 1


def test_the_order_would_matter_otherwise(monkeypatch):
    from adgcl.graphs.chem import smiles_chunk

    texts = ["N[C@@H](C)C(=O)O", "C[C@H](N)C(=O)O"]
    assert Chem.CanonSmiles(texts[0]) == Chem.CanonSmiles(texts[1])
    monkeypatch.setattr(smiles_chunk, "in_canonical_order", lambda molecule, text: molecule)
    assert len(set(signatures(["N[C@@H](C)C(=O)O", "[C@H](N)(C)C(=O)O", *texts], "ogb").tolist())) == 2


@pytest.mark.parametrize("features", ["ogb", "hu"])
@pytest.mark.parametrize(
    "one, other",
    [
        ("C[C@H](N)C(=O)O", "C[C@@H](N)C(=O)O"),
        ("C/C=C/C", "C/C=C\\C"),
        ("C[C@H]1CC[C@H](C)CC1", "C[C@H]1CC[C@@H](C)CC1"),
    ],
    ids=["enantiomers", "E and Z", "cis and trans"],
)
def test_stereoisomers_differ(one, other, features):
    assert len(set(signatures([one, other], features).tolist())) == 2


def test_features_are_those_of_the_canonical_smiles(data_dir):
    for text in filter(has_stereo, AWKWARD + real_molecules(data_dir, has_stereo, 50)):
        canonical = Chem.MolFromSmiles(Chem.CanonSmiles(text))
        ours = in_canonical_order(parse(text), text)
        assert ours.ToBinary() == canonical.ToBinary()


def test_a_mol_is_the_graph_of_its_smiles(data_dir):
    smiles = AWKWARD[:-3] + real_molecules(data_dir, lambda text: True, 50)
    mols = [Chem.MolFromSmiles(text) for text in smiles]
    expected = signatures(smiles, "ogb")
    assert (signatures(mols, "ogb") == expected).all()
    assert (signatures([Chem.AddHs(mol) for mol in mols], "ogb") == expected).all()
    unsanitised = Chem.MolFromSmiles("c1ccccc1C(=O)O", sanitize=False)
    kekulised = Chem.MolFromSmiles("c1ccccc1C(=O)O")
    Chem.Kekulize(kekulised, clearAromaticFlags=True)
    assert len(set(signatures([unsanitised, kekulised, Chem.RWMol(kekulised), "OC(=O)c1ccccc1"], "ogb").tolist())) == 1
    assert as_smiles("CCO") == "CCO" and as_smiles(None) is None


def test_rows_keep_their_order():
    texts = ["[C@H](N)(C)C(=O)O", "CC", "O[C@@H](F)Cl"]
    assert molecules_to_store(texts).store.node_counts.tolist() == [6, 2, 4]


def test_the_longest_smiles_and_one_more():
    read = molecules_to_store(
        ["CC", "C" * MAX_LENGTH, "C" * (MAX_LENGTH + 1), "C" * 1_000_000, "CC " + "x" * 1_000_000]
    )
    assert read.store.node_counts.tolist() == [2, MAX_LENGTH, 2]
    assert [failure.reason for failure in read.failures] == ["longer than 6,000 characters"] * 2


def test_a_second_reading_changes_nothing_but_the_stereochemistry(data_dir):
    smiles = real_molecules(data_dir, has_stereo, 100)
    flat = [Chem.MolToSmiles(Chem.MolFromSmiles(text), isomericSmiles=False) for text in smiles]
    store = molecules_to_store(smiles).store
    without = replace(store, x=store.x * (np.arange(9) != 1), edge_attr=store.edge_attr * (np.arange(3) != 1))
    assert (signatures_of(without) == signatures(flat, "ogb")).all()
