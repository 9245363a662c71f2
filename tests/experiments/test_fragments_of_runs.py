"""Salts and mixtures: whoever uses a run or a model reads them as it did."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from adgcl.cli.main import main
from adgcl.core.errors import ConfigError
from adgcl.estimators import GraphEmbedder
from adgcl.experiments.application import embed_data
from adgcl.experiments.source import Source
from adgcl.training.run_config import DataConfig

SMALL = ["--epochs", "1", "--set", "encoder.hidden_dim=8", "--set", "encoder.num_layers=2"]
CUT = DataConfig(keep_largest_fragment=True)


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ADGCL_CACHE", str(tmp_path / "packed"))


def write_assay() -> None:
    rows = [f"{'C' * (1 + i % 7)}{'NOS'[i % 3]}{'.Cl' if i % 4 == 0 else ''},{i / 10}" for i in range(24)]
    Path("assay.csv").write_text("smiles,y\n" + "\n".join(rows) + "\n")
    Path("new.csv").write_text("smiles\nCCCN\nCCCN.Cl\n")


def finetune(out: str, *flags: str, start: str = "none") -> None:
    write_assay()
    words = ["finetune", start, "assay.csv", "--label-column", "y", "--split", "random", "--seeds", "1", "-q"]
    assert main([*words, *SMALL, "--out", out, *flags]) == 0


def predictions() -> list[str]:
    with open("p.csv", encoding="utf-8", newline="") as file:
        return [row["y"] for row in csv.DictReader(file)]


def test_a_model_made_with_the_flag_predicts_a_salt_as_its_molecule(capfd: pytest.CaptureFixture[str]) -> None:
    finetune("model", "--keep-largest-fragment")
    assert json.loads(Path("model/model.json").read_text())["settings"]["data"]["keep_largest_fragment"] is True
    assert main(["predict", "model", "new.csv", "--out", "p.csv", "--coverage", "0.5"]) == 0
    assert "the largest fragment of each was kept" in capfd.readouterr().err
    alone, salt = predictions()
    assert alone == salt
    assert main(["predict", "model", "new.csv", "--out", "p.csv", "--coverage", "0.5", "--keep-largest-fragment"]) == 0


def test_a_model_made_without_it_reads_salts_whole_and_refuses_the_flag(capfd: pytest.CaptureFixture[str]) -> None:
    finetune("model")
    assert main(["predict", "model", "new.csv", "--out", "p.csv", "--coverage", "0.5"]) == 0
    alone, salt = predictions()
    assert alone != salt
    assert main(["predict", "model", "new.csv", "--out", "p.csv", "--coverage", "0.5", "--keep-largest-fragment"]) == 1
    assert "6 salts and mixtures read whole" in capfd.readouterr().err


def test_a_run_hands_it_on_to_vectors_and_to_models() -> None:
    write_assay()
    assert main(["pretrain", "assay.csv", "--out", "run", "--keep-largest-fragment", "-q", *SMALL]) == 0
    made = embed_data(Path("run"), Source("new.csv"))
    np.testing.assert_array_equal(made.matrix[0], made.matrix[1])
    finetune("model", start="run")
    assert main(["predict", "model", "new.csv", "--out", "p.csv", "--coverage", "0.5"]) == 0
    alone, salt = predictions()
    assert alone == salt


def test_a_setting_does_what_the_flag_does() -> None:
    write_assay()
    source = Source("assay.csv")
    dataset = source.seen_through(source.load(), CUT)
    assert dataset.mixtures == 6 and not any("." in text for text in dataset.smiles)
    assert not any("." in text for text in source.load_for(CUT).smiles)
    settings = {"encoder": {"hidden_dim": 8}, "data": {"keep_largest_fragment": True}}
    rows = GraphEmbedder(epochs=1, settings=settings).fit(["CCO", "CCN.Cl", "CCC"]).transform(["CCN", "CCN.Cl"])
    np.testing.assert_array_equal(rows[0], rows[1])


def test_only_what_has_seen_mixtures_refuses() -> None:
    flag = Source(["CC.Cl"], keep_largest_fragment=True)
    assert flag.following(DataConfig(), mixtures=0) is flag
    with pytest.raises(ConfigError, match="3 salts and mixtures read whole"):
        flag.following(DataConfig(), mixtures=3)


def test_known_sets_are_read_as_published() -> None:
    assert len(Source("freesolv").load_for(CUT)) == len(Source("freesolv").load())
