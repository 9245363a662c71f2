"""SMILES to graphs: equal to OGB's own tables, to PyTorch Geometric, and to RDKit asked atom by atom."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adgcl.core.errors import AdgclError, ConfigError, DataError, UnknownNameError
from adgcl.core.schema import Task
from adgcl.data.families import ogb
from adgcl.data.text.csv_columns import read_table
from adgcl.graphs.chem import smiles_chunk
from adgcl.graphs.chem.atoms import feature_spec
from adgcl.graphs.chem.molecules import NoMoleculesError, molecules_to_store
from adgcl.jobs.chunks import CHUNK, map_chunks

ARRAYS = ("node_ptr", "edge_ptr", "in_degree", "edge_source", "edge_reverse", "x", "edge_attr")

# Everything that the binary form of a molecule can contain, and what makes a molecule go the slow way.
ODD = ["[*:1]CC", "[CH3:300]O", "C" * 300, "CC |$R1;$|", "[500Cl-]", "C1" + "C" * 254 + "1"]
PLAIN = [
    "C", "[H][H]", "*", "O.O", "[Na+].[Cl-]", "[2H]C([2H])[2H]", "F/C=C/F", "F/C=C\\F", "C[C@@H](N)C(=O)O",
    "[O-][N+](=O)c1ccccc1", "[CH3]", "[C]", "c1ccc2[nH]ccc2c1", "C12C3C4C1C5C2C3C45", "FS(F)(F)(F)(F)F",
    "[Fe+2]", "N->[Cu]", "F[P@](Cl)Br", "CC#N", "[Cl-].[NH4+]", "OP(O)(=O)O", "CC=CC",
    "F[Pt@SP1](Cl)(Br)I", "[U]",
    "C%10CCCCC%10", "O=C1C=CC(=O)C=C1", "[13CH4]", "C[S@](=O)CC", "B1OCCO1", "[O+]#[C-]", "C$C",
]  # fmt: skip


def entry(name):
    return next(e for e in ogb.entries() if e.name == f"ogbg-mol{name}")


def assert_same(first, second):
    for name in ARRAYS:
        assert np.array_equal(getattr(first, name), getattr(second, name)), name


def canonical(text):
    """The SMILES that a text is read as: with stereochemistry, RDKit's own."""
    from rdkit import Chem

    return Chem.CanonSmiles(text) if any(character in text for character in "@/\\") else text


def unordered(store):
    """The rows of each graph's atoms and bonds in an order of their own, and centres without their sense."""
    x = store.x.copy()
    x[:, 1] = x[:, 1] > 0
    for nodes, edges in zip(pairwise(store.node_ptr), pairwise(store.edge_ptr), strict=True):
        yield sorted(x[slice(*nodes)].tolist()), sorted(store.edge_attr[slice(*edges)].tolist())


@pytest.mark.parametrize("name", ["esol", "freesolv", "bace", "bbbp"])
def test_ogb_features_are_ogbs_own(data_dir, name):
    dataset = entry(name).load(data_dir)
    read = molecules_to_store(dataset.smiles, "ogb")
    assert read.failures == ()
    assert read.store.spec == dataset.store.spec
    stereo = np.array([canonical(text) != text for text in dataset.smiles])
    assert_same(read.store.select(~stereo), dataset.store.select(~stereo))
    # OGB's tables depend on how a stereocentre was written; without the sense of centres they are ours.
    for ours, theirs in zip(unordered(read.store.select(stereo)), unordered(dataset.store.select(stereo)), strict=True):
        assert ours == theirs


def test_hiv_structure_is_ogbs_own_and_features_nearly(data_dir):
    dataset = entry("hiv").load(data_dir)
    read = molecules_to_store(dataset.smiles[::60])
    rows = np.arange(len(dataset))[::60][read.kept]
    expected = dataset.store.select(rows)
    assert len(read.failures) <= 1
    for name in ARRAYS[:-2]:
        assert np.array_equal(getattr(read.store, name), getattr(expected, name)), name
    # Releases of RDKit differ in radicals and aromaticity of a few metal compounds.
    assert (read.store.x == expected.x).all(axis=1).mean() > 0.998
    assert (read.store.edge_attr == expected.edge_attr).all(axis=1).mean() > 0.998


def test_ogb_features_are_pytorch_geometrics(data_dir):
    from torch_geometric.utils import from_smiles

    texts, _ = read_table(data_dir / "moleculenet/tox21.csv.gz", ("smiles",))
    # PyTorch Geometric's lists have other lengths and orders: its code -> OGB's.
    hybrid, stereo = [5, 5, 0, 1, 2, 3, 4, 5], [0, 5, 1, 2, 3, 4]
    bonds = {1: 0, 2: 1, 3: 2, 12: 3}
    read = molecules_to_store(texts["smiles"][::40])
    for number, position in enumerate(read.kept):
        theirs, ours = from_smiles(canonical(texts["smiles"][::40][position])), read.store.select([number])
        x = theirs.x.numpy()
        x[:, 0] -= 1
        x[:, 6] = np.take(hybrid, x[:, 6])
        assert np.array_equal(ours.x, x)
        order = np.lexsort((theirs.edge_index[0], theirs.edge_index[1]))
        assert np.array_equal(ours.edge_source, theirs.edge_index[0].numpy()[order])
        assert np.array_equal(ours.edge_target(), theirs.edge_index[1].numpy()[order])
        attr = theirs.edge_attr.numpy()[order]
        attr[:, 0] = [bonds.get(code, 4) for code in attr[:, 0]]
        attr[:, 1] = np.take(stereo, attr[:, 1])
        assert np.array_equal(ours.edge_attr, attr)


def test_hu_features_follow_the_definition(data_dir):
    from rdkit import Chem

    texts, _ = read_table(data_dir / "moleculenet/bbbp.csv.gz", ("smiles",))
    read = molecules_to_store(texts["smiles"][::10] + PLAIN, "hu")
    kinds = [Chem.BondType.SINGLE, Chem.BondType.DOUBLE, Chem.BondType.TRIPLE, Chem.BondType.AROMATIC]
    directions = [Chem.BondDir.NONE, Chem.BondDir.ENDUPRIGHT, Chem.BondDir.ENDDOWNRIGHT]
    for number, position in enumerate(read.kept):
        molecule = Chem.MolFromSmiles(canonical((texts["smiles"][::10] + PLAIN)[position]))
        ours = read.store.select([number])
        x = [[(a.GetAtomicNum() - 1) % 119, min(int(a.GetChiralTag()), 3)] for a in molecule.GetAtoms()]
        assert ours.x.tolist() == x
        pairs = zip(ours.edge_source.tolist(), ours.edge_target().tolist(), strict=True)
        for pair, codes in zip(pairs, ours.edge_attr.tolist(), strict=True):
            bond = molecule.GetBondBetweenAtoms(*pair)
            kind = kinds.index(bond.GetBondType()) if bond.GetBondType() in kinds else 0
            assert codes == [kind, directions.index(bond.GetBondDir())]


@pytest.mark.parametrize("features", ["ogb", "hu"])
def test_codes_stay_below_the_declared_sizes(features):
    store = molecules_to_store(PLAIN + ODD, features).store
    spec = feature_spec(features)
    assert store.spec == spec and spec.name == features
    assert (store.x.max(axis=0) < spec.node.sizes).all()
    assert (store.edge_attr.max(axis=0) < spec.edge.sizes).all()
    assert store.edge_reverse.shape == (store.num_edges,)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.sampled_from(PLAIN + ODD), min_size=1, max_size=12))
def test_a_molecule_is_the_same_in_any_company(smiles):
    together = molecules_to_store(smiles).store
    for number, text in enumerate(smiles):
        assert_same(together.select([number]), molecules_to_store([text]).store)


def test_decoding_and_asking_give_the_same(monkeypatch):
    fast = molecules_to_store(PLAIN + ODD).store
    monkeypatch.setattr(smiles_chunk, "binary_is_understood", lambda: False)
    assert_same(fast, molecules_to_store(PLAIN + ODD).store)


def test_this_rdkit_is_understood():
    assert smiles_chunk.binary_is_understood()


BAD = {
    None: "missing",
    float("nan"): "missing",
    "": "empty",
    " \t": "empty",
    7: "not text but int",
    "CCx": "syntax error around position 3",
    "C1CC": "unclosed ring",
    "c1cccc1": "Can't kekulize mol",
    "C(C)(C)(C)(C)C": "Explicit valence for atom # 0 C, 5, is greater than permitted",
}


def test_unreadable_smiles_are_reported_and_nothing_else_moves(capfd):
    smiles = ["CCO", *BAD, "CC"]
    y = np.arange(len(smiles) * 2).reshape(-1, 2)
    ids = [f"m{i}" for i in range(len(smiles))]
    read = molecules_to_store(smiles, y=y, ids=ids, task=Task("regression", 2))
    assert read.kept.tolist() == [0, len(BAD) + 1]
    assert read.store.y.tolist() == y[[0, -1]].tolist()
    assert list(read.store.ids) == ["m0", f"m{len(BAD) + 1}"]
    assert [failure.position for failure in read.failures] == list(range(1, len(BAD) + 1))
    for failure, reason in zip(read.failures, BAD.values(), strict=True):
        assert failure.reason.startswith(reason), failure
    assert capfd.readouterr() == ("", "")


def test_rdkits_own_logging_is_left_as_it_was(capfd):
    from rdkit import Chem, RDLogger

    RDLogger.EnableLog("rdApp.error")  # PyTorch Geometric switches it off for good
    molecules_to_store(["CC", "CCx"])
    Chem.MolFromSmiles("CCx")
    assert "Parse Error" in capfd.readouterr().err


def test_edgeless_molecules_and_fragments():
    store = molecules_to_store(["[Na+]", "O.O", "CC"]).store
    assert store.node_counts.tolist() == [1, 2, 2]
    assert store.edge_counts.tolist() == [0, 0, 2]
    assert molecules_to_store(["[He]"]).store.num_edges == 0


def test_nothing_readable():
    with pytest.raises(NoMoleculesError, match="None of 4 SMILES can be read") as caught:
        molecules_to_store(["x", "y", "z", "w"])
    assert str(caught.value).count("syntax error") == 3
    with pytest.raises(DataError, match="There are no SMILES"):
        molecules_to_store([])


def test_wrong_arguments():
    with pytest.raises(UnknownNameError, match="feature set called 'ogbb'"):
        molecules_to_store(["C"], "ogbb")
    with pytest.raises(DataError, match="2 SMILES but 3 labels"):
        molecules_to_store(["C", "C"], y=[1, 2, 3])
    with pytest.raises(DataError, match="2 SMILES but 1 ids"):
        molecules_to_store(["C", "C"], ids=["a"])
    with pytest.raises(ConfigError, match="0 workers"):
        molecules_to_store(["C"], workers=0)


def test_processes_give_the_same_in_order():
    smiles = [*PLAIN, "not a molecule"] * 150
    calls = []
    one = molecules_to_store(smiles, workers=1, progress=lambda done, total: calls.append((done, total)))
    assert calls == [(min(end, len(smiles)), len(smiles)) for end in range(CHUNK, len(smiles) + CHUNK, CHUNK)]
    two = molecules_to_store(smiles, workers=2)
    assert_same(one.store, two.store)
    assert np.array_equal(one.kept, two.kept) and one.failures == two.failures


def test_processes_need_no_main_guard(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "from adgcl.graphs.chem.molecules import molecules_to_store\n"
        f"print(len(molecules_to_store(['CCO'] * {CHUNK + 1}, workers=2).store))\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, env=environment)
    assert done.stdout.strip() == str(CHUNK + 1), done.stderr


def test_a_process_that_dies_is_an_error(capfd):
    with pytest.raises(AdgclError, match="stopped before it finished"):
        list(map_chunks(int, list(range(CHUNK + 1)), workers=2))
