"""InfoGraph's step against its networks written out, and what its prior does to whom."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from adgcl.training.run_config import resolve
from adgcl.training.trainer import build_method
from tests.graph_cases import random_store

STORE = random_store(num_graphs=10, seed=9)
BATCH = STORE.batch(np.arange(10))


def method(layers="all", **settings):
    encoder = {"hidden_dim": 6, "num_layers": 3, "layers": layers}
    return build_method(
        resolve({"method": {"name": "infograph", **settings}, "encoder": encoder}), STORE.spec, STORE.task
    )


def head_by_hand(head, h):
    """Three linear maps with a relu after each, plus one straight through."""
    z = h
    for i in (0, 2, 4):
        z = (z @ head.block[i].weight.t() + head.block[i].bias).clamp(min=0)
    return z + h @ head.shortcut.weight.t() + head.shortcut.bias


def gradients(module):
    return {name: p.grad.clone() for name, p in module.named_parameters() if p.grad is not None}


def test_the_step_descends_the_plain_formula():
    model = method()
    state = {k: v.clone() for k, v in model.state_dict().items()}
    shown = model.step(BATCH, torch.Generator())
    ours = gradients(model)
    model.load_state_dict(state)
    model.zero_grad()
    model.train()
    node_emb, graph_emb = model.encoder(BATCH)
    assert node_emb.shape == (BATCH.num_nodes, 18) and graph_emb.shape == (10, 18)
    z_node, z_graph = head_by_hand(model.local_head, node_emb), head_by_hand(model.global_head, graph_emb)
    score = (z_node @ z_graph.t()).double()
    own = BATCH.batch.unsqueeze(1) == torch.arange(10)
    log2 = math.log(2)
    positive = log2 - torch.log1p(torch.exp(-score[own]))
    negative = torch.log1p(torch.exp(-score[~own])) + score[~own] - log2
    loss = negative.mean() - positive.mean()
    loss.backward()
    assert float(shown["loss"]) == pytest.approx(loss.item(), rel=1e-5)
    torch.testing.assert_close(ours, gradients(model), rtol=1e-4, atol=5e-6)


def test_embeddings_are_the_sums_of_all_layers():
    model = method()
    model.eval()
    node_emb = model.encoder(BATCH).node_emb
    sums = torch.stack([node_emb[BATCH.batch == g].sum(0) for g in range(10)])
    torch.testing.assert_close(model.embed(BATCH), sums, rtol=1e-4, atol=1e-5)
    assert model.width == 18 and method("last").width == 6


def test_nodes_learn_to_recognise_their_graph():
    model = method(lr=0.005)
    for _ in range(150):
        loss = float(model.step(BATCH, torch.Generator())["loss"])
    assert -2 * math.log(2) <= loss < -0.5


@pytest.mark.parametrize("prior", ["adversarial", "as_published"])
def test_the_prior_turns_the_encoder_against_the_discriminator_or_not(prior):
    """The discriminator gets the gradient of the prior's loss, the encoder the same one, or its opposite."""
    model = method(prior=prior, prior_weight=0.3)
    assert sum(p.numel() for p in model.discriminator.parameters()) == 2 * (18 * 18 + 18) + 18 + 1
    model.train()
    graph_emb = model.encoder(BATCH).graph_emb.detach().requires_grad_()
    loss = model._prior_loss(model.discriminator, graph_emb, BATCH, torch.Generator().manual_seed(4))
    drawn = torch.rand(10, 18, generator=torch.Generator().manual_seed(4))
    told = torch.sigmoid(model.discriminator(torch.cat([drawn, graph_emb])))
    slow = -told[:10].log().mean() - (1 - told[10:]).log().mean()
    torch.testing.assert_close(loss, slow)
    parameters = list(model.discriminator.parameters())
    torch.testing.assert_close(
        torch.autograd.grad(loss, parameters, retain_graph=True),
        torch.autograd.grad(slow, parameters, retain_graph=True),
    )
    (ours,), (plain,) = torch.autograd.grad(loss, graph_emb), torch.autograd.grad(slow, graph_emb)
    torch.testing.assert_close(ours, -plain if prior == "adversarial" else plain)


def test_the_prior_joins_the_step_with_its_weight():
    model, off = method(prior="as_published", prior_weight=0.3), method()
    assert off.discriminator is None
    metrics = model.step(BATCH, torch.Generator().manual_seed(4))
    assert {"loss", "prior"} == set(metrics) and all(torch.isfinite(v) for v in metrics.values())
    assert all(p.grad is not None and p.grad.any() for p in model.discriminator.parameters())
