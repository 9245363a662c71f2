"""Settings for fine-tuning: rates, schedules, a frozen encoder and class weights; without them nothing changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.utils.class_weight import compute_class_weight

from adgcl.core.schema import Task
from adgcl.methods.class_weights import balanced_weights
from adgcl.methods.schedules import rate_factor
from adgcl.objectives.supervised import cross_entropy, logistic_loss
from adgcl.training.run_config import RunConfig, resolve
from adgcl.training.run_folder import RunFolder
from adgcl.training.trainer import Trainer
from tests.graph_cases import distinct_store, random_store

EIGHT = np.arange(8)


def config(epochs: int = 2, **method: Any) -> RunConfig:
    return resolve(
        {
            "method": {"name": "supervised", **method},
            "encoder": {"hidden_dim": 8, "num_layers": 2, "dropout": 0.2},
            "training": {"epochs": epochs, "batch_size": 8, "device": "cpu", "checkpoint_seconds": 0},
        }
    )


def test_defaults_hold_what_they_always_held() -> None:
    """One group of parameters and no new tensors: checkpoints of earlier versions fit."""
    method = Trainer(config(), distinct_store()).method
    (group,) = method.optimizers["encoder"].param_groups
    assert len(group["params"]) == len(list(method.parameters())) and group["lr"] == 1e-3
    others = [name for name in method.state_dict() if not name.startswith("encoder.")]
    assert sorted(others) == ["head.bias", "head.weight", "target_mean", "target_scale"]


def test_the_head_has_a_rate_of_its_own() -> None:
    """The first step of Adam moves a parameter by its learning rate, whatever the gradient."""
    store = distinct_store()
    method = Trainer(config(lr=1e-3, head_lr_scale=10.0), store).method
    before = {name: p.detach().clone() for name, p in method.named_parameters()}
    method.step(store.batch(EIGHT), torch.Generator())
    moved = {name: (p.detach() - before[name]).abs().max().item() for name, p in method.named_parameters()}
    assert moved["head.weight"] == pytest.approx(1e-2, rel=0.01)
    assert moved["encoder.layers.0.first.weight"] == pytest.approx(1e-3, rel=0.01)


def test_a_frozen_encoder_moves_in_no_way() -> None:
    store = distinct_store()
    method = Trainer(config(5, frozen_encoder=True), store).method
    before = {name: value.clone() for name, value in method.state_dict().items()}
    for _ in range(3):
        method.step(store.batch(EIGHT), torch.Generator())
    for name, value in method.state_dict().items():
        assert torch.equal(value, before[name]) == (not name.startswith("head.")), name


def test_schedules() -> None:
    assert [rate_factor("step", e, 30, 0.3) for e in (0, 29, 30, 60)] == pytest.approx([1, 1, 0.3, 0.09])
    assert [rate_factor("cosine", e, 100, 0.1) for e in (0, 50, 100, 200)] == pytest.approx([1, 0.55, 0.1, 0.1])
    assert rate_factor("none", 500, 1, 0.1) == 1


def test_a_schedule_falls_in_training_and_survives_a_stop(tmp_path: Path) -> None:
    store, falling = (
        distinct_store(),
        {"schedule": "step", "decay_epochs": 1, "decay_factor": 0.5, "head_lr_scale": 2.0},
    )
    whole = Trainer(config(3, **falling), store, folder=RunFolder(tmp_path / "whole"))
    whole.fit()
    assert [group["lr"] for group in whole.method.optimizers["encoder"].param_groups] == [2.5e-4, 5e-4]
    Trainer(config(2, **falling), store, folder=RunFolder(tmp_path / "parts")).fit()
    Trainer(config(3, **falling), store, folder=RunFolder(tmp_path / "parts"), resume=True).fit()
    files = [RunFolder(tmp_path / name).checkpoint.read_bytes() for name in ("whole", "parts")]
    assert files[0] == files[1]


def test_balanced_weights_are_those_of_scikit_learn() -> None:
    y = np.random.default_rng(0).choice([0.0, 1.0, np.nan], size=(200, 3), p=[0.7, 0.1, 0.2])
    for weights, column in zip(balanced_weights(y, 2), y.T):
        present = column[~np.isnan(column)]
        np.testing.assert_allclose(weights, compute_class_weight("balanced", classes=np.array([0.0, 1.0]), y=present))
    assert balanced_weights(np.array([[0.0], [0.0], [2.0], [np.nan]]), 3).tolist() == [[0.75, 0.0, 1.5]]


def test_weighted_losses_are_those_of_torch() -> None:
    logits, y = torch.randn(20, 2), torch.randint(0, 2, (20, 2)).float()
    weights = torch.tensor([[1.0, 4.0], [1.0, 0.5]])
    wanted = torch.nn.functional.binary_cross_entropy_with_logits(logits, y, pos_weight=weights[:, 1])
    torch.testing.assert_close(logistic_loss(logits, y, weights), wanted)
    y[3, 1] = torch.nan
    seen = ~y.isnan()
    each = torch.nn.functional.binary_cross_entropy_with_logits(
        logits, y.nan_to_num(), pos_weight=weights[:, 1], reduction="none"
    )
    torch.testing.assert_close(logistic_loss(logits, y, weights), each[seen].mean())
    classes, three = torch.randint(0, 3, (20,)), torch.tensor([0.2, 1.0, 3.0])
    logits = torch.randn(20, 3)
    wanted = torch.nn.functional.cross_entropy(logits, classes, three, reduction="sum") / 20
    torch.testing.assert_close(cross_entropy(logits, classes[:, None].float(), three), wanted)


@pytest.mark.parametrize("task", [Task("binary"), Task("multiclass", num_classes=2)], ids=lambda t: t.kind)
def test_balanced_training_answers_rare_classes_more_often(task: Task) -> None:
    y = (np.arange(60) % 10 == 0).astype(np.float64)[:, None]
    store = random_store(num_graphs=60, seed=5).with_labels(y, task)
    shares = []
    for weights in ("none", "balanced"):
        method = Trainer(config(30, lr=0.01, class_weights=weights), store).fit()
        outputs = method.predict(store.batch(np.arange(60)))
        shares.append(
            float((outputs > 0).float().mean() if task.kind == "binary" else outputs.argmax(1).float().mean())
        )
    assert shares[1] > shares[0]
