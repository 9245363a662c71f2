"""An encoder written by itself embeds like the run it comes from, and other runs start from it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from adgcl.core.errors import CheckpointError
from adgcl.data.dataset import Dataset, Origin
from adgcl.estimators.copies import from_bytes, to_bytes
from adgcl.methods.encoder_alone import EncoderAlone
from adgcl.training import start
from adgcl.training.checkpoints import load_checkpoint
from adgcl.training.encoder_file import save_encoder
from adgcl.training.run_config import resolve
from adgcl.training.run_folder import RunFolder
from adgcl.training.runs import load_run
from adgcl.training.trainer import Trainer
from tests.graph_cases import random_store

FEATURES = {"node_sizes": (4,), "edge_sizes": (3,)}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    settings = {
        "method": "adgcl",
        "encoder": {"name": "gine", "hidden_dim": 40, "num_layers": 3},
        "training": {"epochs": 2, "batch_size": 8, "device": "cpu"},
    }
    store = random_store(num_graphs=40, seed=1, **FEATURES)
    Trainer(resolve(settings), store, folder=RunFolder(tmp_path / "run"), data={"name": "toys"}).fit()
    return tmp_path / "run"


@pytest.fixture
def toys() -> Dataset:
    return Dataset("toys", random_store(num_graphs=30, seed=2, **FEATURES), Origin("own"))


def written(run: Path, *, half: bool) -> Path:
    path = run.parent / "encoder.safetensors"
    save_encoder(path, load_checkpoint(RunFolder(run).checkpoint), half=half)
    return path


def test_in_32_bits_nothing_changes(run: Path, toys: Dataset) -> None:
    loaded = load_run(written(run, half=False))
    np.testing.assert_array_equal(loaded.embed(toys), load_run(run).embed(toys))
    assert isinstance(loaded.method, EncoderAlone) and loaded.config.method.name == "adgcl"


def test_in_16_bits_little_changes_and_the_file_is_small(run: Path, toys: Dataset) -> None:
    path = written(run, half=True)
    ours, whole = load_run(path).embed(toys), load_run(run).embed(toys)
    assert 0 < np.abs(ours - whole).max() < 0.01 * np.abs(whole).max()
    assert path.stat().st_size < RunFolder(run).checkpoint.stat().st_size / 8
    kinds = {name: value.dtype for name, value in load_checkpoint(path).tensors.items()}
    assert {value for name, value in kinds.items() if "running" in name} == {torch.float32}


def test_another_run_starts_from_it(run: Path) -> None:
    path = written(run, half=True)
    store = random_store(num_graphs=12, seed=3, **FEATURES)
    tree = load_run(run).config.to_tree()
    tree["training"] |= {"epochs": 1, "start_from": str(path)}
    trainer = Trainer(resolve(tree), store)
    assert trainer.data["started_from"] == start.encoder_origin(str(path))["checksum"]
    assert start.encoder_origin(str(path))["epochs"] == 2
    save_encoder(path.with_name("second.safetensors"), replace(load_checkpoint(path), config=resolve(tree)))
    assert load_checkpoint(path.with_name("second.safetensors")).config.training.start_from == "", "no place of ours"
    wanted = start.encoder_weights(load_checkpoint(path).tensors)
    have = trainer.method.encoder.state_dict()
    assert all(torch.equal(have[name], wanted[name].to(have[name].dtype)) for name in wanted)
    trainer.fit()


def test_it_survives_being_pickled(run: Path, toys: Dataset) -> None:
    loaded = load_run(written(run, half=True))
    again = from_bytes(to_bytes(loaded), "cpu")
    assert isinstance(again.method, EncoderAlone)
    np.testing.assert_array_equal(again.embed(toys), loaded.embed(toys))


def test_a_file_to_pass_on_does_not_say_where_the_data_was(run: Path) -> None:
    checkpoint = load_checkpoint(RunFolder(run).checkpoint)
    own = replace(checkpoint, data={"name": "assay", "family": "own", "source": "/home/ada/secret/assay.csv"})
    path = run.parent / "encoder.safetensors"
    save_encoder(path, own)
    assert load_checkpoint(path).data == {"name": "assay", "family": "own", "source": "assay.csv"}
    assert b"secret" not in path.read_bytes()
    named = replace(checkpoint, data={"name": "ZINC", "family": "zinc", "source": "github.com/zinc (data/zinc.txt)"})
    save_encoder(path, named)
    assert load_checkpoint(path).data["source"] == "github.com/zinc (data/zinc.txt)"


def test_what_cannot_be_written_is_said(run: Path, tmp_path: Path) -> None:
    checkpoint = load_checkpoint(RunFolder(run).checkpoint)
    name = next(n for n, v in checkpoint.tensors.items() if n.startswith("network/encoder.") and v.dim() == 2)
    checkpoint.tensors[name][0, 0] = 1e30
    with pytest.raises(CheckpointError, match="16 bits cannot hold") as caught:
        save_encoder(tmp_path / "a.safetensors", checkpoint)
    assert "--full" in str(caught.value.hint)
    settings = {"method": "statistics", "training": {"epochs": 0, "device": "cpu"}}
    Trainer(resolve(settings), random_store(num_graphs=5, seed=1), folder=RunFolder(tmp_path / "plain")).fit()
    with pytest.raises(CheckpointError, match="no encoder to write"):
        save_encoder(tmp_path / "b.safetensors", load_checkpoint(RunFolder(tmp_path / "plain").checkpoint))
