"""GraphMAE's step against its decoder written out; hidden codes are hidden twice; what it learns from molecules."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from adgcl.training.run_config import resolve
from adgcl.training.trainer import build_method
from tests.graph_cases import random_store, slow_neighbour_sum
from tests.molecule_cases import hu_molecules

OWN = random_store(num_graphs=12, seed=9, node_sizes=(4, 3))


def method(store, encoder="gin", width=6, **settings):
    tree = {"method": {"name": "graphmae", **settings}, "encoder": {"name": encoder, "hidden_dim": width}}
    return build_method(resolve(tree), store.spec, store.task)


def noise(seed=3):
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("gamma", [1.0, 2.0])
def test_the_step_descends_the_plain_formula(gamma):
    model, batch = method(OWN, gamma=gamma), OWN.batch(np.arange(12))
    state = {k: v.clone() for k, v in model.state_dict().items()}
    shown = model.step(batch, noise())
    model.load_state_dict(state)
    masked = model.mask(batch, noise())
    h = model.states(masked).detach()
    h = torch.where(h > 0, h, h * model.activation.weight.detach()) @ model.to_decoder.weight.detach().t()
    h[masked.nodes] = 0.0
    layer = model.decoder.layers[0]
    h = h + slow_neighbour_sum(h, batch.edge_index, torch.ones(batch.num_edges))
    h = (h @ layer.first.weight.t() + layer.first.bias).relu() @ layer.second.weight.t() + layer.second.bias
    z = (h @ model.head.weight.t() + model.head.bias)[masked.nodes]
    cosine = F.cosine_similarity(z.detach(), F.one_hot(batch.x[masked.nodes, 0], 4).float(), dim=1)
    assert float(shown["loss"]) == pytest.approx(float((1 - cosine).pow(gamma).mean()), rel=1e-4)


@pytest.mark.parametrize("encoder", ["gin", "gine", "hu_gin"])
def test_codes_of_hidden_nodes_are_hidden_from_the_decoder(encoder):
    store = hu_molecules()
    model, batch = method(store, encoder), store.batch(np.arange(30))
    masked = model.mask(batch, noise())
    node_emb = model.states(masked).detach().requires_grad_()
    model._decoded(node_emb, masked).sum().backward()
    assert not node_emb.grad[masked.hidden].any() and node_emb.grad[~masked.hidden].any()


@pytest.mark.parametrize("encoder", ["gin", "gine", "hu_gin"])
def test_the_decoder_is_one_layer_of_the_encoders_kind(encoder):
    model = method(hu_molecules(), encoder)
    assert type(model.decoder) is type(model.encoder) and len(model.decoder.layers) == 1
    assert model.head.out_features == 119
    batch = hu_molecules().batch(np.arange(5))
    before = model.embed(batch)
    with torch.no_grad():
        for parameter in model.decoder.parameters():
            parameter.zero_()
    assert torch.equal(model.embed(batch), before)


def test_neighbours_tell_more_than_how_common_an_element_is():
    store = hu_molecules()
    model, generator, rng = method(store, "gine", 32, lr=0.01), noise(), np.random.default_rng(0)
    losses = [float(model.step(store.batch(rng.permutation(642)[:64]), generator)["loss"]) for _ in range(120)]
    shares = np.unique(store.x[:, 0], return_counts=True)[1] / store.num_nodes
    # The best answer without a look at the graph is the same row for all; no row beats the length of the shares.
    assert np.mean(losses[-20:]) < 1 - np.sqrt(np.square(shares).sum()) - 0.05
