"""AD-GCL's two updates against the plain formulas they come from."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from adgcl.graphs.view import View
from adgcl.training.run_config import resolve
from adgcl.training.trainer import build_method
from tests.graph_cases import random_store


def method(**settings):
    config = resolve({"method": {"name": "adgcl", **settings}, "encoder": {"hidden_dim": 6, "num_layers": 2}})
    return build_method(config, STORE.spec, STORE.task)


STORE = random_store(num_graphs=10, seed=9)
BATCH = STORE.batch(np.arange(10))


def gradients(module):
    return {n: p.grad.clone() for n, p in module.named_parameters() if p.grad is not None}


def test_augmenter_ascends_what_the_encoder_descends():
    """The augmenter's gradient is that of `reg_lambda * drop - loss` with the encoder fixed in evaluation mode."""
    model = method(reg_lambda=2.0)
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


@pytest.mark.parametrize("update", ["alternating", "simultaneous"])
def test_a_high_price_keeps_edges_and_a_low_price_drops_them(update):
    ratios = {}
    for price in (0.0, 20.0):
        model = method(update=update, reg_lambda=price, augmenter_lr=0.02)
        generator = torch.Generator().manual_seed(0)
        for _ in range(150):
            metrics = model.step(BATCH, generator)
        ratios[price] = float(metrics["drop_ratio"])
    assert ratios[20.0] < 0.15
    assert ratios[0.0] > ratios[20.0] + 0.3


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
