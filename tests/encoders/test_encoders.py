"""What every encoder promises, tested over the registry, and GIN and GINE against plain PyTorch."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn import functional as F
from torch_geometric.nn import GINConv, GINEConv

from adgcl.core.schema import FeatureSpec
from adgcl.encoders.base import ENCODERS, EncoderConfig, make_encoder
from adgcl.graphs.store.store import pack
from adgcl.graphs.store.view import View
from tests.encoder_cases import cases_of, one_node
from tests.graph_cases import random_store


def encoder(name, spec: FeatureSpec, **settings):
    torch.manual_seed(1)
    return make_encoder(EncoderConfig(name=name, hidden_dim=6, num_layers=3, **settings), spec)


@pytest.fixture(params=[(n, c) for n in ENCODERS for c in cases_of(n)], ids=lambda p: "-".join(p))
def case(request):
    name, features = request.param
    store = random_store(seed=5, **cases_of(name)[features])
    model = encoder(name, store.spec)
    model(store.batch(np.arange(12)))  # running statistics that are not the initial ones
    return model.eval(), store


def test_weight_zero_is_a_removed_edge_and_ones_are_no_view(case):
    model, store = case
    batch = store.batch([0])
    gone = torch.zeros(batch.num_edges, dtype=torch.bool)
    gone[:2] = True
    kept = ~gone
    smaller = pack(
        [batch.num_nodes], [int(kept.sum())], batch.edge_index[:, kept].numpy(),
        x=None if batch.x is None else batch.x.numpy(), x_num=None if batch.x_num is None else batch.x_num.numpy(),
        edge_attr=None if batch.edge_attr is None else batch.edge_attr[kept].numpy(), spec=store.spec,
    )  # fmt: skip
    weighted = model(batch, View(edge_keep=kept.float())).graph_emb
    torch.testing.assert_close(weighted, model(smaller.batch([0])).graph_emb)
    torch.testing.assert_close(model(batch, View(edge_keep=torch.ones(batch.num_edges))), model(batch))


def test_node_order_does_not_matter(case):
    model, store = case
    batch = store.batch([0])
    order = torch.randperm(batch.num_nodes)
    place = torch.argsort(order)
    shuffled = pack(
        [batch.num_nodes], [batch.num_edges], place[batch.edge_index].numpy(),
        x=None if batch.x is None else batch.x[order].numpy(),
        x_num=None if batch.x_num is None else batch.x_num[order].numpy(),
        edge_attr=None if batch.edge_attr is None else batch.edge_attr.numpy(), spec=store.spec,
    )  # fmt: skip
    torch.testing.assert_close(model(shuffled.batch([0])).graph_emb, model(batch).graph_emb, rtol=1e-4, atol=1e-4)


def test_a_graph_does_not_feel_its_batch(case):
    model, store = case
    together = model(store.batch(np.arange(12))).graph_emb
    alone = torch.cat([model(store.batch([i])).graph_emb for i in range(12)])
    torch.testing.assert_close(together, alone, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("training", [True, False])
def test_a_pair_is_two_passes(case, training):
    model, store = case
    batch = store.batch(np.arange(12))
    keep = torch.rand(batch.num_edges, requires_grad=True)
    node_keep = torch.rand(batch.num_nodes)
    view = View(edge_keep=keep, node_keep=node_keep)
    start = {k: v.clone() for k, v in model.state_dict().items()}
    model.train(training)

    def outcome(pair):
        model.load_state_dict(start)
        original, augmented = pair()
        loss = (original.graph_emb * 1.5 + augmented.graph_emb).pow(2).mean()
        parameters = [p for p in model.parameters() if p.requires_grad]
        grads = torch.autograd.grad(loss, [keep, *parameters], allow_unused=True)
        buffers = [b.clone() for b in model.buffers()]
        return [original.node_emb, augmented.graph_emb, *buffers], [g for g in grads if g is not None]

    one, one_grads = outcome(lambda: model.pair(batch, view))
    two, two_grads = outcome(lambda: (model(batch), model(batch, view)))
    torch.testing.assert_close(one, two, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(one_grads, two_grads, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("training", [True, False])
def test_gin_equals_pyg_with_gradients(training):
    store = random_store(seed=7, node_sizes=(4,))
    batch = store.batch(np.arange(12))
    model = encoder("gin", store.spec).train(training)
    keep = torch.rand(batch.num_edges, requires_grad=True)
    h = F.one_hot(batch.x[:, 0], 4).float()
    for i, layer in enumerate(model.layers):
        norm = layer.norm
        summed = h + torch.zeros_like(h).index_add(0, batch.target, h[batch.edge_index[0]] * keep[:, None])
        h = layer.second(layer.first(summed).relu())
        h = F.batch_norm(
            h, norm.running_mean.clone(), norm.running_var.clone(), norm.weight, norm.bias, training, 0.1, norm.eps
        )
        h = h if i == 2 else h.relu()
    ours = model(batch, View(edge_keep=keep)).node_emb
    torch.testing.assert_close(ours, h, rtol=1e-4, atol=1e-4)
    inputs = [keep, *(p for n, p in model.named_parameters() if "mask" not in n)]
    mine = torch.autograd.grad(ours.pow(2).mean(), inputs)
    theirs = torch.autograd.grad(h.pow(2).mean(), inputs)
    torch.testing.assert_close(mine, theirs, rtol=1e-3, atol=1e-4)
    conv = GINConv(torch.nn.Sequential(model.layers[0].first, torch.nn.ReLU(), model.layers[0].second))
    first = F.one_hot(batch.x[:, 0], 4).float()
    plain = model.layers[0].second(model.layers[0].first(first + _summed(first, batch)).relu())
    torch.testing.assert_close(conv(first, batch.edge_index), plain)


def _summed(h, batch):
    return torch.zeros_like(h).index_add(0, batch.target, h[batch.edge_index[0]])


def test_gine_equals_pyg():
    store = random_store(seed=8, node_sizes=(4, 3), edge_sizes=(3, 2))
    batch = store.batch(np.arange(12))
    model = encoder("gine", store.spec).eval()
    table, code = model.bonds(batch)
    h = model.inputs(batch)
    codes = batch.edge_attr
    by_hand = model.bonds.codes.table[codes[:, 0]] + model.bonds.codes.table[3 + codes[:, 1]]
    torch.testing.assert_close(table[code], by_hand)
    for i, layer in enumerate(model.layers):
        mlp = torch.nn.Sequential(layer.first, layer.inner_norm, torch.nn.ReLU(), layer.second)
        h = layer.norm(GINEConv(mlp)(h, batch.edge_index, by_hand))
        h = h if i == 2 else h.relu()
    torch.testing.assert_close(model(batch).node_emb, h, rtol=1e-4, atol=1e-4)


def test_options_change_the_shape_and_the_numbers():
    store = random_store(seed=2)
    batch = store.batch(np.arange(12))
    assert encoder("gin", store.spec, layers="all")(batch).graph_emb.shape == (12, 18)
    sums = encoder("gin", store.spec).eval()(batch).graph_emb
    means = encoder("gin", store.spec, readout="mean").eval()(batch).graph_emb
    torch.testing.assert_close(means * batch.node_counts[:, None], sums)
    bare = encoder("gin", store.spec, batch_norm=False, dropout=0.5)
    assert not torch.equal(bare(batch).graph_emb, bare(batch).graph_emb)
    assert torch.equal(bare.eval()(batch).graph_emb, bare(batch).graph_emb)


@pytest.mark.parametrize("name", list(ENCODERS))
def test_smallest_batches_work_in_training(name):
    """One graph with one node and no edge has no variance to normalise by."""
    store = one_node(name)
    model = encoder(name, store.spec).train()
    out = model(store.batch([0])).graph_emb
    assert out.shape == (1, model.graph_dim)
    assert torch.isfinite(out).all()
    pair = model.pair(store.batch([0]), View(edge_keep=torch.ones(0)))
    assert torch.isfinite(pair[1].graph_emb).all()
