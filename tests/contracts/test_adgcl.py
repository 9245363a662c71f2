"""AD-GCL's two updates against the plain formulas they come from."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from adgcl.graphs.store.view import View
from adgcl.training.run_config import resolve
from adgcl.training.trainer import build_method
from tests.graph_cases import random_store

ALL = ["edge_drop", "node_drop", "feature_mask", "edge_add"]


def method(**settings):
    config = resolve({"method": {"name": "adgcl", **settings}, "encoder": {"hidden_dim": 6, "num_layers": 2}})
    return build_method(config, STORE.spec, STORE.task)


STORE = random_store(num_graphs=10, seed=9)
BATCH = STORE.batch(np.arange(10))


def gradients(module):
    return {n: p.grad.clone() for n, p in module.named_parameters() if p.grad is not None}


@pytest.mark.parametrize("names", [["edge_drop"], ["node_drop"], ["feature_mask"], ["edge_add"], ALL])
def test_augmenter_ascends_what_the_encoder_descends(names):
    """The augmenter's gradient is that of `reg_lambda * drop - loss` with the encoder fixed in evaluation mode."""
    model = method(reg_lambda=2.0, augmentations=names)
    noise = torch.Generator().manual_seed(5)
    state = {k: v.clone() for k, v in model.state_dict().items()}
    model._augmenter_step(BATCH, noise)
    ours = gradients(model.augmenter)
    assert not gradients(model.encoder)

    model.load_state_dict(state)
    model.zero_grad()
    model.eval()
    model.augmenter.train()
    view, drop = model.augmenter(BATCH, torch.Generator().manual_seed(5))
    (2.0 * drop - model._loss(model.project(BATCH), model.project(BATCH, view))).backward()
    torch.testing.assert_close(ours, gradients(model.augmenter))


def test_encoder_step_leaves_the_augmenter_alone():
    model = method()
    before = {k: v.clone() for k, v in model.augmenter.state_dict().items()}
    model._encoder_step(BATCH, torch.Generator().manual_seed(1))
    torch.testing.assert_close(model.augmenter.state_dict(), before, rtol=0, atol=0)
    assert not gradients(model.augmenter)


def test_simultaneous_gradients_are_those_of_the_two_players():
    model = method(update="simultaneous", reg_lambda=3.0)
    state = {k: v.clone() for k, v in model.state_dict().items()}
    model._simultaneous_step(BATCH, torch.Generator().manual_seed(2))
    ours = gradients(model)

    model.load_state_dict(state)
    model.zero_grad()
    model.train()
    view, drop = model.augmenter(BATCH, torch.Generator().manual_seed(2))
    loss = model._loss(model.project(BATCH), model.project(BATCH, view))
    learner = [p for n, p in model.named_parameters() if not n.startswith("augmenter")]
    spoiler = list(model.augmenter.parameters())
    descend = torch.autograd.grad(loss, learner, retain_graph=True, allow_unused=True)
    ascend = torch.autograd.grad(3.0 * drop - loss, spoiler, allow_unused=True)
    names = [n for n, _ in model.named_parameters() if not n.startswith("augmenter")]
    names += [f"augmenter.{n}" for n, _ in model.augmenter.named_parameters()]
    for name, expected in zip(names, (*descend, *ascend)):
        if expected is not None:
            torch.testing.assert_close(ours[name], expected, rtol=1e-3, atol=1e-4, msg=name)


def ratios_after(steps, **settings):
    model, generator = method(augmenter_lr=0.02, **settings), torch.Generator().manual_seed(0)
    for _ in range(steps):
        metrics = model.step(BATCH, generator)
    return {name: float(value) for name, value in metrics.items() if name != "loss"}


CASES = [("alternating", name) for name in ALL] + [("simultaneous", "edge_drop"), ("simultaneous", "edge_add")]


@pytest.mark.parametrize(("update", "name"), CASES)
def test_a_high_price_keeps_everything_and_a_low_price_does_not(update, name):
    (dear,) = ratios_after(60, update=update, augmentations=[name], reg_lambda=20.0).values()
    (free,) = ratios_after(60, update=update, augmentations=[name], reg_lambda=0.0).values()
    assert dear < 0.15
    assert free > dear + 0.3


def test_each_augmentation_has_its_own_price_and_metric():
    ratios = ratios_after(60, augmentations=ALL, reg_lambda=4.0, reg_weights={"node_drop": 5.0, "edge_add": 0.0})
    assert set(ratios) == {"drop_ratio", "node_drop_ratio", "feature_mask_ratio", "edge_add_ratio"}
    assert max(ratios["drop_ratio"], ratios["node_drop_ratio"], ratios["feature_mask_ratio"]) < 0.05
    # Noise moves the share of a single step between 0.25 and 0.5, differently on each processor.
    assert ratios["edge_add_ratio"] > 0.15


def test_the_price_is_the_weighted_sum_of_the_regularisers():
    model = method(augmentations=ALL, reg_lambda=4.0, reg_weights={"node_drop": 5.0, "edge_add": 0.0})
    _, price, ratios = model._draw(BATCH, torch.Generator().manual_seed(0))
    weights = {"drop_ratio": 4.0, "node_drop_ratio": 20.0, "feature_mask_ratio": 4.0, "edge_add_ratio": 0.0}
    torch.testing.assert_close(price.detach(), sum(weights[name] * ratio for name, ratio in ratios.items()))


@pytest.mark.parametrize("ids", [[1], [1, 1], [0, 1], range(10)])
@pytest.mark.parametrize("update", ["alternating", "simultaneous"])
def test_hard_gates_of_all_kinds_train_on_awkward_batches(update, ids):
    model = method(augmentations=ALL, update=update, gate={"hard": True, "tied": True})
    batch, generator = STORE.batch(list(ids)), torch.Generator().manual_seed(0)
    for _ in range(3):
        assert all(torch.isfinite(value) for value in model.step(batch, generator).values())
    assert all(torch.isfinite(p).all() for p in model.parameters())


def test_the_papers_augmenter_keeps_its_parameter_names():
    """Checkpoints of plain AD-GCL stay readable."""
    names = {name for name, _ in method().augmenter.named_parameters() if not name.startswith("encoder.")}
    assert names == {"ends.weight", "bias", "score.weight", "score.bias"}


def test_projected_pairs_equal_two_projections():
    model = method().train()
    view = View(edge_keep=torch.rand(BATCH.num_edges))
    state = {k: v.clone() for k, v in model.state_dict().items()}
    pair = model.project_pair(BATCH, view)
    model.load_state_dict(state)
    torch.testing.assert_close(pair, (model.project(BATCH), model.project(BATCH, view)), rtol=1e-4, atol=1e-4)


def test_player_adam_equals_torchs():
    from adgcl.methods.optimizer import PlayerAdam

    torch.manual_seed(0)
    start = [torch.randn(4, 3), torch.randn(5)]
    ours, theirs = ([torch.nn.Parameter(t.clone()) for t in start] for _ in range(2))
    optimizers = PlayerAdam(ours, 0.01), torch.optim.Adam(theirs, 0.01)
    for _ in range(20):
        for parameters, optimizer in zip((ours, theirs), optimizers):
            optimizer.zero_grad()
            sum((p**2).sum() + p.sin().sum() for p in parameters).backward()
            optimizer.step()
    torch.testing.assert_close(ours, theirs)
