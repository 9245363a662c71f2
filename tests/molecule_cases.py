"""Real molecules with the features of Hu et al., whose atoms and bonds have a code for "hidden"."""

from __future__ import annotations

from functools import cache

from adgcl.data.load import load_dataset
from adgcl.graphs.store.store import GraphStore


@cache
def hu_molecules() -> GraphStore:
    """The molecules of FreeSolv, which comes with the package."""
    smiles = load_dataset("freesolv").smiles
    assert smiles is not None
    return load_dataset(list(smiles), atom_features="hu").store
