"""Sources: molecules are read once, with the features that a run needs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from adgcl.experiments import source as module
from adgcl.experiments.source import Source
from adgcl.training.run_config import DataConfig
from tests.graph_strategies import assert_same_store

SMILES = ["CCO", "c1ccccc1", "C/C=C/C", "C[C@H](N)O"]


@pytest.mark.parametrize("features", ["ogb", "hu"])
@pytest.mark.parametrize("kind", ["table", "list", "with a missing one"])
def test_molecules_are_read_once(kind: str, features: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "molecules.smi"
    path.write_text("\n".join(SMILES) + "\n")
    data = {"table": path, "list": SMILES, "with a missing one": np.array([*SMILES, None], dtype=object)}[kind]
    read, calls = module.load_dataset, []

    def counted(*words, **options):
        calls.append(options["atom_features"])
        return read(*words, **options)

    monkeypatch.setattr(module, "load_dataset", counted)
    config = DataConfig.model_validate({"atom_features": features})
    dataset = Source(data).load_for(config)
    # The usual features are not named: a packed file is the same with and without settings.
    assert calls == [None if features == "ogb" else features]
    assert dataset.store.spec.name == features and len(dataset) == len(SMILES)
    twice = Source(data).seen_through(read(data), config)
    assert_same_store(dataset.store, twice.store)


def test_what_has_features_of_its_own_keeps_them() -> None:
    dataset = Source(Source(SMILES).load()).load_for(DataConfig())
    assert dataset.store.spec.name == "ogb"
