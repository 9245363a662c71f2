"""One thing given for another: inputs as outputs, runs as models, models as runs, encoders as models."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import adgcl
from tests.cli.conftest import SMALL, Run

QUICK = ("--label-column", "logp", "--epochs", 1, "--split", "random", "--seeds", 1, *SMALL)


@pytest.fixture
def model(run: Run, molecules: Path) -> Path:
    assert run("finetune", "none", molecules, *QUICK, "--out", "m").code == 0
    return Path("m")


@pytest.fixture
def trained(run: Run, molecules: Path) -> Path:
    assert run("pretrain", molecules, "--out", "r", "--epochs", 1, *SMALL).code == 0
    return Path("r")


def test_no_command_writes_over_its_input(run: Run, molecules: Path, model: Path, trained: Path) -> None:
    before = molecules.read_bytes()
    link = Path("link.csv")
    link.symlink_to(molecules)
    for words in (
        ("predict", model, molecules, "--out", link),
        ("embed", trained, molecules, "--out", molecules),
        ("map", trained, molecules, "--out", molecules),
        ("neighbours", trained, "freesolv", molecules, "--out", molecules),
        ("explain", trained, molecules, "--out", molecules),
    ):
        refused = run(*words)
        assert refused.code == 1 and "is an input of this command" in refused.err, words
    assert molecules.read_bytes() == before
    assert run("export", trained, "--out", "e.safetensors").code == 0
    assert "is an input" in run("export", "e.safetensors", "--out", "e.safetensors").err
    assert run("data", "describe", molecules, "--out", "d.graphs").code == 0
    assert "is an input" in run("data", "describe", "d.graphs", "--out", "d.graphs").err


def test_an_old_result_may_be_replaced(run: Run, molecules: Path, model: Path) -> None:
    for _ in range(2):
        assert run("predict", model, molecules, "--out", "p.csv").code == 0


def test_runs_and_models_keep_their_folders(run: Run, molecules: Path, model: Path, trained: Path) -> None:
    refused = run("finetune", "none", molecules, *QUICK, "--out", trained)
    assert refused.code == 1 and "r holds a run of `adgcl pretrain`" in refused.err
    refused = run("pretrain", molecules, "--out", model, "--epochs", 1, *SMALL)
    assert refused.code == 1 and "m holds a model of `adgcl finetune`" in refused.err


def test_what_does_not_predict_says_what_to_do(run: Run, molecules: Path, trained: Path) -> None:
    for encoder in ("zinc-gin", trained):
        refused = run("predict", encoder, molecules, "--out", "p.csv")
        assert refused.code == 1 and f"adgcl finetune {encoder} DATA" in refused.err
    assert "There is no folder nosuch" in run("predict", "nosuch", molecules, "--out", "p.csv").err
    Path("empty").mkdir()
    assert "There is no model in empty" in run("predict", "empty", molecules, "--out", "p.csv").err


def test_a_refused_fine_tuning_is_no_unfinished_model(run: Run, molecules: Path) -> None:
    words = ("finetune", "zinc-gin", molecules, *QUICK[:-2], "--out", "q")
    assert run(*words, "--set", "encoder.num_layers=2").code == 1
    told = run("predict", "q", molecules, "--out", "p.csv").err
    assert "not finished" not in told and "There is no model in q" in told


def test_a_model_in_place_of_an_encoder_names_its_networks(run: Run, molecules: Path, model: Path) -> None:
    refused = run("embed", model, molecules, "--out", "v.npy")
    assert refused.code == 1 and "Give one of them, such as m/member-0.safetensors" in refused.err
    assert run("embed", model / "member-0.safetensors", molecules, "--out", "v.npy").code == 0


def test_a_misspelt_encoder_is_said_before_the_data_is_read(run: Run) -> None:
    refused = run("finetune", "zinc-gni", "no-such-file.csv", "--label-column", "y", "--out", "m")
    assert refused.code == 1 and "Did you mean 'zinc-gin'" in refused.err and "no-such-file" not in refused.err


def test_an_encoder_stays_what_it_is(run: Run, molecules: Path) -> None:
    words = ("finetune", "zinc-gin", molecules, "--label-column", "logp", "--out", "m")
    refused = run(*words, "--set", "encoder.name=gine")
    assert refused.code == 1 and "trained with encoder.name=hu_gin, which cannot become gine" in refused.err
    refused = run(*words, "--set", "data.atom_features=ogb")
    assert refused.code == 1 and "Leave data.atom_features out" in refused.err


def test_a_protocol_is_not_passed_over_for_a_finished_run(run: Run, molecules: Path, trained: Path) -> None:
    refused = run("evaluate", trained, molecules, "--label-column", "logp", "--protocol", "finetune")
    assert refused.code == 1 and "--set start_from=r" in refused.err


def test_bands_that_cannot_be_promised_are_missed_at_once(run: Run, molecules: Path) -> None:
    lines = molecules.read_text(encoding="utf-8").splitlines()
    molecules.write_text("\n".join(lines[:13]), encoding="utf-8")
    told = run("finetune", "none", molecules, *QUICK, "--out", "few")
    assert told.code == 0 and "No 90 % bands for logp" in told.out


def test_labels_that_nobody_asked_for_do_not_stop_an_embedding(run: Run) -> None:
    Path("assay.csv").write_text("smiles,activity\nCCO,5\nCCN,>10\nCCC,7.5\n", encoding="utf-8")
    assert run("embed", "zinc-gin", "assay.csv", "--out", "v.npy").code == 0
    assert np.isfinite(np.load("v.npy")).all()


def test_python_gets_what_the_command_writes(run: Run, molecules: Path, model: Path) -> None:
    smiles = ["CCO", "C1CC", "c1ccccc1O"]
    Path("new.csv").write_text("smiles\n" + "\n".join(smiles), encoding="utf-8")
    assert run("predict", model, "new.csv", "--out", "p.parquet").code == 0
    written = pq.read_table("p.parquet").to_pydict()
    for data in ("new.csv", smiles):
        table = adgcl.predict(model, data)
        assert list(table) == list(written)
        assert table["in_domain"].tolist() == written["in_domain"]
        np.testing.assert_allclose(table["logp"][[0, 2]], np.array(written["logp"])[[0, 2]].astype(float), rtol=1e-5)
        assert np.isnan(table["logp"][1]) and table["problem"][1]
