"""Scaffolds: RDKit's own, also of large molecules, for which RDKit would take minutes."""

from __future__ import annotations

import time

import pytest
from rdkit import Chem, rdBase
from rdkit.Chem.Scaffolds.MurckoScaffold import MurckoScaffoldSmiles

from adgcl.data.text.csv_columns import read_table
from adgcl.graphs.chem import scaffolds as module
from adgcl.graphs.chem.scaffolds import scaffold_of

BENZENE = "c1ccccc1"
PHENYLALANINE = f"N[C@@H](C{BENZENE})C(=O)"


@pytest.fixture
def both_ways(monkeypatch):
    """The scaffold by RDKit's decomposition and by the one for large molecules, whatever the size."""

    def scaffolds(smiles):
        found = []
        for large in (100_000, -1):
            monkeypatch.setattr(module, "LARGE", large)
            with rdBase.BlockLogs():
                found.append(scaffold_of(smiles))
        return found

    return scaffolds


@pytest.mark.parametrize("large", [module.LARGE, -1])
def test_scaffolds_are_rdkits(data_dir, monkeypatch, large):
    monkeypatch.setattr(module, "LARGE", large)
    texts, _ = read_table(data_dir / "moleculenet/bbbp.csv.gz", ("smiles",))
    smiles = texts["smiles"][::3]
    found = [scaffold_of(text) for text in smiles]
    assert found == [MurckoScaffoldSmiles(text, includeChirality=True) for text in smiles]
    assert found.count("") > 20 and len(set(found)) > 400


@pytest.mark.parametrize("name, step", [("sider", 2), ("tox21", 16), ("toxcast", 16), ("hiv", 100)])
def test_large_and_small_molecules_are_decomposed_alike(data_dir, both_ways, name, step):
    """Peptides of Sider, salts of ToxCast, organometallics of HIV."""
    texts, _ = read_table(data_dir / f"moleculenet/{name}.csv.gz", ("smiles",))
    for text in texts["smiles"][::step]:
        plain, large = both_ways(text)
        assert plain is not None and plain == large, text


@pytest.mark.parametrize(
    "smiles, scaffold",
    [
        ("Cn1cccc1", "c1cc[nH]c1"),
        ("C[n+]1ccccc1", "c1cc[nH+]cc1"),
        ("C[c+]1cccccc1", "c1ccc[cH+]cc1"),
        ("C[C@H]1CC[C@@](F)(O1)c1ccccc1", "c1ccc(C2CCCO2)cc1"),
        ("C[C@@H]1CCC[C@H]2CCCO[C@H]12", "C1CC[C@H]2OCCC[C@@H]2C1"),
        ("CC=C1CCCCC1", "C=C1CCCCC1"),
        ("CCC(=NC)C1CC1", "C1CC1"),
        ("CC(C)(C)N=C(C1CC1)C1CC1", "N=C(C1CC1)C1CC1"),
        ("C1CC1/C=C/C(=O)C1CC1", "O=C(/C=C/C1CC1)C1CC1"),
        ("CS(=O)(=O)C1CC1", "C1CC1"),
        ("O=S1(=O)CC1C#N", "O=S1(=O)CC1"),
        ("[H][C]1CCC1", "[CH]1CCC1"),
        ("C1CC1.CCO.[Na+].CCC1CO1", "C1CC1.C1CO1"),
        ("CC.C=C.[H][H].O", ""),
        ("O=C1O[Al]23(OC1=O)(OC(=O)C(=O)O2)OC(=O)C(=O)O3", None),  # only read with valences unchecked
        ("C1CC1N(C)->[Cu]<-NC1CC1", "C1CC1[NH2]->[Cu]<-[NH2]C1CC1"),
        ("C1CC1N2->[Cu]<-N(C1CC1)CCCCC2", "C1CC1[NH2]->[Cu]<-[NH2]C1CC1"),  # the shorter of two paths
        ("[NH2]1CCN->[Cu]<-1", ""),
    ],
)
def test_what_is_kept_and_what_becomes_of_its_neighbours(both_ways, smiles, scaffold):
    plain, large = both_ways(smiles)
    assert plain == large
    assert plain == scaffold or (scaffold is None and plain)


def _dendrimer(generations, end):
    return end if not generations else f"C({_dendrimer(generations - 1, end)})" + _dendrimer(generations - 1, end)


@pytest.mark.parametrize(
    "smiles, scaffold",
    [
        ("C" * 5900, ""),
        ("OCC" * 1990, ""),
        ("N[C@@H](C)C(=O)" * 390 + "O", ""),
        ("[Na+].[Cl-]." * 490 + "C", ""),
        (_dendrimer(10, "C"), ""),
        (BENZENE + "C" * 5900, BENZENE),
        ("C" * 2900 + "C1CC1" + "C" * 2900, "C1CC1"),
        (BENZENE + "C" * 5900 + BENZENE, f"{BENZENE}{'C' * 5900}{BENZENE}"),
        ("C1CC1(CC)." * 590 + "C", ".".join(["C1CC1"] * 590)),
        (_dendrimer(8, BENZENE), _dendrimer(8, BENZENE)),
        (PHENYLALANINE * 250 + "O", f"{BENZENE}CCC(=O){PHENYLALANINE * 248}NCC{BENZENE}"),
    ],
)
def test_very_long_molecules_take_no_time(smiles, scaffold):
    """RDKit alone takes from seconds to minutes; processor time, so that a busy machine does not matter."""
    start = time.process_time()
    found = scaffold_of(smiles)
    assert time.process_time() - start < 5
    assert found == Chem.CanonSmiles(scaffold)
