"""What the vocabulary of atoms and bonds has no name for is counted as RDKit reads it."""

from __future__ import annotations

import pytest

from adgcl.graphs.chem import vocabulary
from adgcl.graphs.chem.molecules import molecules_to_store
from adgcl.graphs.chem.vocabulary import Strangers, count_strangers


@pytest.mark.parametrize("features", ["ogb", "hu"])
@pytest.mark.parametrize(
    ("smiles", "found"),
    [
        ("CCO", Strangers()),
        ("*CC*", Strangers(atoms=2, molecules_by_atoms=1)),
        ("[Pt](Cl)(Cl)(<-N)<-N", Strangers(molecules_by_bonds=1)),
        ("C~C", Strangers(molecules_by_bonds=1)),
        ("Cl[Pt@SP1](Br)(I)F", Strangers(molecules_by_chirality=1)),
        ("C[C@H](N)O", Strangers()),
    ],
)
def test_one_molecule(smiles: str, found: Strangers, features: str) -> None:
    store = molecules_to_store([smiles], features).store
    assert count_strangers(store, [smiles]) == found and bool(str(found)) == (found != Strangers())


def test_atoms_are_counted_in_words() -> None:
    assert str(Strangers(atoms=1, molecules_by_atoms=1)) == (
        "1 atom that is no element (`*`) in 1 molecule, read as `other`"
    )
    assert str(Strangers(atoms=3, molecules_by_atoms=2)).startswith("3 atoms that are no element (`*`) in 2 molecules,")


def test_atoms_are_found_across_the_parts_in_which_a_corpus_is_looked_through(monkeypatch: pytest.MonkeyPatch) -> None:
    smiles = ["CC*", "*", "CCO", "O", "***C", "CC*"]
    store = molecules_to_store(smiles, "hu").store
    for at_once in range(1, 20):
        monkeypatch.setattr(vocabulary, "_ATOMS_AT_ONCE", at_once)
        assert count_strangers(store, smiles) == Strangers(atoms=6, molecules_by_atoms=4)
