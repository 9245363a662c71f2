"""Baselines beside a user's result were evaluated on the same folds, and warnings reach the user."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from adgcl.core.errors import DataError
from adgcl.data.dataset import Dataset
from adgcl.data.duplicates import find_duplicates
from adgcl.data.load import load_dataset
from adgcl.data.splits import divided
from adgcl.experiments.evaluation import evaluate_run
from adgcl.experiments.planning import Request
from adgcl.experiments.pretraining import pretrain
from adgcl.experiments.source import Source
from adgcl.graphs.chem.morgan import morgan_counts
from adgcl.methods.adgcl import ADGCL, ADGCLConfig
from adgcl.protocols.finished_run import FinishedRunConfig
from adgcl.protocols.unsupervised import judge
from adgcl.training.runs import load_run
from adgcl.training.trackers import Adviser

SMALL = ("encoder.hidden_dim=8", "encoder.num_layers=2", "training.epochs=1")
SMILES = ["CCO", "OCC", "c1ccccc1", "CCN", "CCC", "C1CCCCC1", "CC(C)O", "OCC(O)CO", "Cc1ccccc1", "Oc1ccccc1", "CCO"]


@pytest.fixture
def molecules(tmp_path: Path) -> Path:
    path = tmp_path / "own.csv"
    rows = [f"{smiles},{i % 2}" for i, smiles in enumerate(SMILES * 3)]
    path.write_text("smiles,active\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return path


def test_yardsticks_are_judged_on_the_same_folds(molecules: Path, tmp_path: Path) -> None:
    source = Source(str(molecules), label_columns=("active",))
    pretrain(source, tmp_path / "run", Request("adgcl", assignments=SMALL))
    records = evaluate_run(tmp_path / "run", source, Request(assignments=("num_folds=3",)), 2).records
    assert [record.method for record in records] == ["adgcl", "adgcl+ecfp", "random_init", "ecfp", "constant"]
    dataset = source.load()
    config = FinishedRunConfig(num_folds=3)
    for seed in (0, 1):
        (guess,) = judge(np.zeros((len(dataset), 1), dtype=np.float32), dataset, config, seed)
        assert records[-1].values[seed] == pytest.approx(100 * guess.test)
    assert len({json.dumps(record.data) for record in records}) == 1
    assert any("rows repeat a molecule" in note for note in records[0].notes)
    assert records[3].config["method"]["counts"], "the stronger fingerprint"
    embedding = load_run(tmp_path / "run").embed(dataset)
    both = np.concatenate([embedding, morgan_counts(dataset.smiles or [])], axis=1)
    for seed in (0, 1):
        (beside,) = judge(both, dataset, config, seed)
        assert records[1].values[seed] == pytest.approx(100 * beside.test)
    about = [note for note in records[0].notes if note.startswith("One finished run")]
    assert about and about[0] in records[1].notes and about[0] not in records[2].notes


def test_a_folder_called_like_a_packaged_encoder_is_not_taken_for_it(
    molecules: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    source, folds = Source(str(molecules), label_columns=("active",)), Request(assignments=("num_folds=3",))
    (packaged,) = evaluate_run(Path("zinc-gin"), source, folds, 1, beside=False).records
    pretrain(source, Path("zinc-gin"), Request("adgcl", assignments=SMALL))
    (own,) = evaluate_run(Path("zinc-gin"), source, folds, 1, beside=False).records
    assert (packaged.method, own.method) == ("zinc-gin", "adgcl")


def test_duplicates_are_counted_however_they_are_written() -> None:
    dataset = load_dataset(SMILES)
    assert find_duplicates(dataset).repeated == 2
    split = {"train": np.arange(5), "valid": np.arange(5, 8), "test": np.arange(8, 11)}
    parted = Dataset(dataset.name, dataset.store, dataset.origin, split=split, smiles=dataset.smiles)
    found = find_duplicates(parted)
    assert found.across_parts == 1 and "both in the training part" in str(found)


def test_any_data_can_be_divided_anew(data_dir: Path) -> None:
    bace = load_dataset("ogbg-molbace", data_dir=data_dir)
    assert divided(bace, "cv").split is None
    own = divided(bace, "scaffold").split
    assert own is not None and bace.split is not None
    assert all(np.array_equal(np.sort(own[part]), np.sort(bace.split[part])) for part in own), "OGB's is this one"
    assert Source("ogbg-molbace", data_dir, split="cv").load().split is None
    mutag = load_dataset("MUTAG", data_dir=data_dir)
    assert sum(map(len, (divided(mutag, "random").split or {}).values())) == 188
    with pytest.raises(DataError, match="no SMILES"):
        divided(mutag, "scaffold")
    chains = load_dataset(["C" * length for length in range(1, 9)])
    with pytest.raises(DataError, match="have the same scaffold"):
        divided(chains, "scaffold")


def test_an_adversary_that_gave_up_is_announced_once() -> None:
    config = ADGCLConfig(reg_lambda=5.0)
    assert ADGCL.advice(config, {"epoch": 1, "loss": 1.0, "drop_ratio": 0.2}) == ""
    advice = ADGCL.advice(config, {"epoch": 7, "loss": 1.0, "drop_ratio": 0.001})
    assert "stopped changing graphs" in advice and "--set reg_lambda=1" in advice
    both = ADGCLConfig(augmentations=("edge_drop", "node_drop"))
    assert ADGCL.advice(both, {"epoch": 7, "drop_ratio": 0.0, "node_drop_ratio": 0.3}) == ""
    said: list[str] = []
    adviser = Adviser(said.append)
    for row in ({"epoch": 1}, {"epoch": 2, "advice": advice}, {"epoch": 3, "advice": advice}):
        adviser.epoch(row)
    assert len(said) == 1 and said[0].startswith("Epoch 2: ")
