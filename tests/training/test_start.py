"""A run starts from the encoder of another, or says what does not fit."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from adgcl.core.errors import AdgclError, CheckpointError
from adgcl.training import packaged, start
from adgcl.training.checkpoints import load_checkpoint
from adgcl.training.run_config import RunConfig, resolve
from adgcl.training.run_folder import RunFolder
from adgcl.training.trainer import Trainer
from tests.graph_cases import random_store


def config(start_from: str = "", method: str = "adgcl", width: int = 6, **encoder: object) -> RunConfig:
    training = {"epochs": 1, "batch_size": 8, "device": "cpu", "seed": 3, "start_from": start_from}
    return resolve(
        {"method": method, "encoder": {"hidden_dim": width, "num_layers": 2, **encoder}, "training": training}
    )


@pytest.fixture
def trained(tmp_path: Path) -> Path:
    Trainer(config(), random_store(num_graphs=20, seed=1), folder=RunFolder(tmp_path / "trained")).fit()
    return tmp_path / "trained"


def encoder_of(path: Path) -> dict[str, torch.Tensor]:
    return start.encoder_weights(load_checkpoint(RunFolder(path).checkpoint).tensors)


@pytest.mark.parametrize("method", ["adgcl", "graphcl", "supervised", "random_init"])
def test_any_method_starts_with_the_trained_encoder(method: str, trained: Path) -> None:
    trainer = Trainer(config(str(trained), method), random_store(num_graphs=20, seed=1))
    wanted = encoder_of(trained)
    have = trainer.method.encoder.state_dict()
    assert set(have) == set(wanted) and all(torch.equal(have[name], wanted[name]) for name in wanted)
    assert trainer.data["started_from"] == start.checksum(wanted)
    fresh = Trainer(config(method=method), random_store(num_graphs=20, seed=1)).method.encoder.state_dict()
    assert any(not torch.equal(fresh[name], wanted[name]) for name in wanted)


def test_a_file_and_a_packaged_encoder_serve_too(
    trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = RunFolder(trained).checkpoint
    monkeypatch.setattr(packaged, "packaged_folder", lambda: tmp_path / "packaged")
    (tmp_path / "packaged").mkdir()
    (tmp_path / "packaged" / "toy-gin.safetensors").write_bytes(file.read_bytes())
    (tmp_path / "packaged" / "toy-gin.md").write_text("# toy-gin\n\nA toy, for\ntests. It is small.\n\nMore.\n")
    assert packaged.packaged_encoders() == {"toy-gin": "A toy, for tests"}
    for name in (str(file), "toy-gin"):
        trainer = Trainer(config(name), random_store(num_graphs=20, seed=1))
        assert trainer.data["started_from"] == start.checksum(encoder_of(trained))
    with pytest.raises(CheckpointError, match=r"(?s)called 'nothing'.*toy-gin"):
        Trainer(config("nothing"), random_store(num_graphs=20, seed=1))


def test_what_differs_is_said(trained: Path) -> None:
    store = random_store(num_graphs=20, seed=1)
    with pytest.raises(CheckpointError, match="hidden_dim: 6 -> 7"):
        Trainer(config(str(trained), width=7), store)
    with pytest.raises(CheckpointError, match="batch_norm: True -> False"):
        Trainer(config(str(trained), batch_norm=False), store)
    other = random_store(num_graphs=20, seed=1, node_sizes=(4, 3))
    with pytest.raises(AdgclError, match="per node"):
        Trainer(config(str(trained)), other)


def test_dropout_may_differ(trained: Path) -> None:
    Trainer(config(str(trained), dropout=0.5), random_store(num_graphs=20, seed=1))


def test_a_resumed_run_goes_on_and_does_not_start_over(trained: Path, tmp_path: Path) -> None:
    store = random_store(num_graphs=20, seed=1)
    whole = Trainer(config(str(trained)).with_training(epochs=2), store, folder=RunFolder(tmp_path / "whole"))
    whole.fit()
    Trainer(config(str(trained)), store, folder=RunFolder(tmp_path / "parts")).fit()
    again = config(str(trained)).with_training(epochs=2)
    Trainer(again, store, folder=RunFolder(tmp_path / "parts"), resume=True).fit()
    mine, theirs = (encoder_of(tmp_path / name) for name in ("whole", "parts"))
    assert all(torch.equal(mine[name], theirs[name]) for name in mine)
