"""What does not depend on a device being there: moving a run to another kind, and how many processes it gets."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from adgcl.experiments import evaluation
from adgcl.experiments.evaluation import default_jobs
from adgcl.training import checkpoints
from adgcl.training.run_config import RunConfig, resolve
from adgcl.training.run_folder import RunFolder
from adgcl.training.trainer import Trainer
from tests.graph_cases import random_store


def config(epochs: int = 2, width: int = 6) -> RunConfig:
    encoder = {"hidden_dim": width, "num_layers": 2, "dropout": 0.2}
    return resolve(
        {"method": "adgcl", "encoder": encoder, "training": {"epochs": epochs, "batch_size": 8, "device": "cpu"}}
    )


def made_on_a_gpu(folder: Path) -> None:
    """Rewrite a checkpoint as one whose random states are those of a GPU: 16 bytes each."""
    path = RunFolder(folder).checkpoint
    saved = checkpoints.load_checkpoint(path)
    method = saved.make_method()
    states = {"noise": torch.arange(16, dtype=torch.uint8), "global": torch.arange(16, dtype=torch.uint8)}
    checkpoints.save_checkpoint(path, method, saved.config, saved.position, states, saved.data)


def test_a_run_moves_to_another_kind_of_device_and_the_same_move_gives_the_same_run(tmp_path: Path) -> None:
    store = random_store(num_graphs=20, seed=1)
    tensors = []
    for name in ("first", "second"):
        Trainer(config(epochs=1), store, folder=RunFolder(tmp_path / name)).fit()
        made_on_a_gpu(tmp_path / name)
        Trainer(config(), store, folder=RunFolder(tmp_path / name), resume=True).fit()
        tensors.append(checkpoints.load_checkpoint(RunFolder(tmp_path / name).checkpoint).tensors)
    assert all(torch.equal(tensors[0][key], tensors[1][key]) for key in tensors[0])


def test_a_gpu_gets_one_process_however_narrow_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluation, "available_cores", lambda: 8)
    assert default_jobs(config(width=32)) == 8 and default_jobs(config(width=300)) == 1
    monkeypatch.setattr(evaluation, "pick_device", lambda name: torch.device("cuda"))
    assert default_jobs(config(width=32)) == 1
