"""Runs of two processes: resume, stopping together, and errors that end all of them."""

from __future__ import annotations

import json

import pytest
import torch

from adgcl.core.errors import CheckpointError, ConfigError
from adgcl.methods.base import METHODS
from adgcl.parallel import own_cores
from adgcl.parallel import world as worlds
from adgcl.parallel.world import World, from_environment
from adgcl.training import device, team
from adgcl.training.checkpoints import load_checkpoint
from adgcl.training.run_config import resolve
from adgcl.training.team import Team
from adgcl.training.trainer import Trainer
from tests.graph_cases import random_store
from tests.parallel.launch import finished, start
from tests.parallel.runs import trainer


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    return folder, finished(start("tests.parallel.runs", folder))


@pytest.mark.parametrize("other", ["parts", "signal", "time"])
def test_a_run_that_was_stopped_and_resumed_ends_with_the_same_bytes(made, other):
    folder, _ = made
    whole, resumed = ((folder / name / "checkpoint.safetensors").read_bytes() for name in ("whole", other))
    assert whole == resumed
    rows = [json.loads(line) for line in (folder / other / "metrics.jsonl").read_text().splitlines()]
    assert [row["epoch"] for row in rows] == [1, 2, 3]


def test_processes_stop_after_the_same_step(made):
    folder, _ = made
    first, second = (json.loads((folder / f"{rank}.json").read_text()) for rank in range(2))
    assert first == second
    assert first["signal"].startswith("epoch 1, step 2:") and "--resume" in first["signal"]
    assert first["time"].startswith("epoch 0, step 1:")


def test_an_error_in_one_process_ends_both_and_is_told_once(made):
    _, ends = made
    assert [code for code, _, _ in ends] == [1, 1]
    errors = "".join(err for _, _, err in ends)
    assert errors.count("This graph cannot be read.") == 1
    assert "ended without a word" not in errors and "Traceback" not in errors


def test_another_number_of_processes_is_refused(made):
    folder, _ = made
    assert load_checkpoint(folder / "parts" / "checkpoint.safetensors").data["processes"] == 2
    before = (folder / "parts" / "config.json").read_bytes()
    with pytest.raises(CheckpointError, match="started with 2 processes, and now there is one") as caught:
        trainer(folder / "parts", resume=True, epochs=5)
    assert "torchrun --nproc-per-node 2" in caught.value.hint
    assert (folder / "parts" / "config.json").read_bytes() == before


@pytest.fixture
def second_of_two(monkeypatch):
    two = World(rank=1, size=2, local_rank=1, local_size=2)
    for module in (worlds, team, device):
        monkeypatch.setattr(module, "world", lambda: two)
    return two


@pytest.mark.parametrize("name", [name for name in METHODS if not METHODS[name].parallel])
def test_methods_that_cannot_be_divided_are_refused_before_anything_runs(second_of_two, name):
    with pytest.raises(ConfigError, match="by 2 processes") as caught:
        Team(resolve({"method": name}))
    assert "adgcl" in caught.value.hint and "context_pred" not in caught.value.hint


def test_batches_and_data_that_are_too_small_are_refused(second_of_two):
    with pytest.raises(ConfigError, match="divided among 2"):
        Team(resolve({"training": {"batch_size": 1}}))
    with pytest.raises(ConfigError, match="only 1 graphs for 2"):
        Trainer(resolve({"training": {"device": "cpu"}}), random_store(num_graphs=2).select([0]))


def test_cores_and_gpus_are_divided(second_of_two, monkeypatch):
    monkeypatch.setattr(own_cores, "available_cores", lambda: 6)
    monkeypatch.setattr(device.torch, "set_num_threads", lambda threads: None)
    assert device.set_threads(0, 300) == 3
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert device.pick_device("auto") == device.pick_device("cuda") == torch.device("cuda", 1)
    with pytest.raises(ConfigError, match="cannot share cuda:0"):
        device.pick_device("cuda:0")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    with pytest.raises(ConfigError, match="1 GPUs for 2 processes"):
        device.pick_device("auto")


def test_the_environment_says_who_we_are():
    told = {"RANK": "1", "WORLD_SIZE": "4", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "2", "MASTER_ADDR": "a"}
    assert from_environment({}) == from_environment(told) == World()
    complete = {**told, "MASTER_PORT": "1"}
    assert from_environment(complete) == World(1, 4, 1, 2)
    bare = {name: complete[name] for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")}
    assert from_environment(bare).local_size == 1, "not every launcher says how many share a machine"
    for wrong in ({"RANK": "4"}, {"RANK": "one"}):
        with pytest.raises(ConfigError) as caught:
            from_environment({**complete, **wrong})
        assert "torchrun" in caught.value.hint
