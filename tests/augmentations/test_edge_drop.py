"""The learnable edge dropper and its gate."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from adgcl.augmentations.edge_drop import EdgeDrop, drop_ratio
from adgcl.augmentations.gates import GateConfig, logistic_noise, relaxed_bernoulli
from adgcl.encoders.base import EncoderConfig
from tests.graph_cases import random_store


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.fixture
def batch():
    return random_store(seed=3).batch(np.arange(12))


def augmenter(**gate) -> EdgeDrop:
    torch.manual_seed(0)
    return EdgeDrop(EncoderConfig(hidden_dim=8, num_layers=2), GateConfig(**gate), random_store().spec)


def test_gate_matches_its_formula_and_its_limits():
    logits, uniform = torch.tensor([-1.0, 0.0, 2.0]), torch.tensor([0.3, 0.4, 0.9])
    noise = torch.log(uniform) - torch.log(1 - uniform)
    expected = 1 / (1 + torch.exp(-(logits + noise) / 0.7))
    torch.testing.assert_close(relaxed_bernoulli(logits, noise, 0.7), expected)
    cold = relaxed_bernoulli(logits, noise, 1e-3)
    torch.testing.assert_close(cold, (logits + noise > 0).float())


def test_gate_keeps_with_the_sigmoid_probability():
    noise = logistic_noise(200_000, generator())
    for logit in (-2.0, 0.0, 1.5):
        kept = relaxed_bernoulli(torch.full_like(noise, logit), noise, hard=True).mean()
        assert float(kept) == pytest.approx(torch.sigmoid(torch.tensor(logit)).item(), abs=5e-3)


def test_soft_weights_at_temperature_one_have_the_known_mean():
    """At temperature 1 the mean weight is not the keep probability: 0.794 for logit 2."""
    noise = logistic_noise(400_000, generator())
    assert float(relaxed_bernoulli(torch.full_like(noise, 2.0), noise).mean()) == pytest.approx(0.794, abs=3e-3)


def test_hard_weights_are_binary_with_the_soft_gradient():
    logits = torch.randn(50, requires_grad=True)
    noise = logistic_noise(50, generator())
    hard = relaxed_bernoulli(logits, noise, hard=True)
    assert set(hard.detach().round(decimals=6).tolist()) <= {0.0, 1.0}
    torch.testing.assert_close(
        torch.autograd.grad(hard.sum(), logits)[0],
        torch.autograd.grad(relaxed_bernoulli(logits, noise).sum(), logits)[0],
    )


def test_logits_equal_the_joined_mlp(batch):
    """Splitting the first layer by its two halves changes nothing."""
    model = augmenter().eval()
    h = model.encoder(batch).node_emb
    joined = torch.cat((h[batch.edge_index[0]], h[batch.edge_index[1]]), 1)
    weight = torch.cat(model.ends.weight.chunk(2), 1)
    slow = model.score((joined @ weight.t() + model.bias).relu()).squeeze(1)
    torch.testing.assert_close(model.edge_logits(batch), slow)


def test_tied_edges_share_their_fate(batch):
    view = augmenter(tied=True)(batch, generator()).view
    torch.testing.assert_close(view.edge_keep, view.edge_keep[batch.reverse])
    free = augmenter(tied=False)(batch, generator()).view
    assert not torch.allclose(free.edge_keep, free.edge_keep[batch.reverse])


def test_regulariser_is_the_mean_over_graphs_with_edges(batch):
    keep = torch.rand(batch.num_edges, requires_grad=True)
    owner = batch.batch[batch.target]
    slow = torch.stack([(1 - keep[owner == g]).mean() for g in range(batch.num_graphs) if (owner == g).any()]).mean()
    torch.testing.assert_close(drop_ratio(keep, batch), slow)
    assert len(set(owner.tolist())) < batch.num_graphs  # the edgeless graph is really there


def test_regulariser_of_edgeless_graphs_is_zero():
    store = random_store(num_graphs=2).select([1])
    batch = store.batch([0])
    assert batch.num_edges == 0
    assert float(drop_ratio(torch.ones(0), batch)) == 0.0
