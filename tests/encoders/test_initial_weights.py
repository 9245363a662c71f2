"""How linear layers start: as the authors of AD-GCL do, or as torch does."""

from __future__ import annotations

import pytest
import torch

from adgcl.core.schema import Task
from adgcl.encoders.base import ENCODERS
from adgcl.experiments.planning import Request, plan
from adgcl.experiments.source import Source
from adgcl.graphs.chem.molecules import molecules_to_store
from adgcl.methods.base import METHODS

SPEC = molecules_to_store(["CCO"], "hu").store.spec


def biases(method: str, start: str) -> list[torch.Tensor]:
    torch.manual_seed(0)
    encoder = ENCODERS["hu_gin"].Config(hidden_dim=8, num_layers=2, initial_weights=start)
    kind = METHODS[method]
    made = kind(kind.Config(), encoder, SPEC, Task("binary"))
    return [part.bias for part in made.modules() if isinstance(part, torch.nn.Linear) and part.bias is not None]


@pytest.mark.parametrize("method", ["supervised", "graphcl", "joao", "joaov2", "infograph", "adgcl"])
def test_biases_tell_the_two_starts_apart(method: str) -> None:
    assert not any(bias.any() for bias in biases(method, "xavier"))
    assert all(bias.any() for bias in biases(method, "torch"))


def test_a_new_head_starts_as_fine_tuning_wants_whatever_its_encoder_did(tmp_path, monkeypatch) -> None:
    from adgcl.experiments.pretraining import pretrain

    monkeypatch.setenv("ADGCL_CACHE", str(tmp_path))
    small = {"encoder": {"name": "hu_gin", "hidden_dim": 8, "num_layers": 2}, "data": {"atom_features": "hu"}}
    source, run = Source(["CCO", "CCN", "CCC", "CCCl"]), tmp_path / "run"
    asked = {**small, "training": {"epochs": 1}, "encoder": {**small["encoder"], "initial_weights": "torch"}}
    pretrain(source, run, Request("graphcl", flags=asked))
    tuned = plan(source.load(), Request("random_init", flags={"training": {"start_from": str(run)}})).run.encoder
    assert tuned.hidden_dim == 8 and tuned.initial_weights == "xavier"
