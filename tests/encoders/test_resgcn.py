"""ResGCN against dense matrices and PyTorch Geometric, with the gradients of everything."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn import functional as F
from torch_geometric.nn import GCNConv

from adgcl.encoders.base import make_encoder
from adgcl.encoders.heads import initialise
from adgcl.encoders.resgcn import ResGCNConfig
from adgcl.graphs.store.view import AddedEdges, View
from adgcl.methods.base import METHODS
from adgcl.training.run_config import resolve
from adgcl.training.trainer import build_method
from tests.graph_cases import random_store


def encoder(spec, **settings):
    torch.manual_seed(1)
    return make_encoder(ResGCNConfig(hidden_dim=6, **settings), spec)


@pytest.fixture
def store():
    return random_store(seed=5, node_sizes=(4,), num_dim=2)


def normalised(h, norm, training):
    mean, var = norm.running_mean.clone(), norm.running_var.clone()
    return F.batch_norm(h, mean, var, norm.weight, norm.bias, training, 0.1, norm.eps)


def dense(model, batch, keep, added, training):
    """The published network with a whole matrix for the edges of all graphs."""
    a = torch.zeros(batch.num_nodes, batch.num_nodes).index_put((batch.target, batch.col), keep, accumulate=True)
    if added is not None:
        a = a.index_put((added.target, added.source), added.keep, accumulate=True)
    # A node counts once for itself, whether or not the graph, or a View, has an edge from it to itself.
    a = a * (1 - torch.eye(batch.num_nodes)) + torch.eye(batch.num_nodes)
    root = a.sum(1).rsqrt()
    a = root[:, None] * a * root[None, :]
    h = torch.cat((F.one_hot(batch.x[:, 0], 4).float(), batch.x_num), dim=1)
    h = F.linear(normalised(h, model.input_norm, training), model.input_map.weight).relu()
    for layer in model.layers:
        h = layer.linear(a @ normalised(h, layer.norm, training)).relu()
    pooled = torch.stack([h[batch.batch == g].sum(0) for g in range(batch.num_graphs)])
    g = model.graph_map(normalised(pooled, model.graph_norm, training)).relu()
    return h, normalised(g, model.last_norm, training)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("view", ["none", "edges", "added"])
def test_it_equals_the_dense_network_with_gradients(store, training, view):
    batch = store.batch(np.arange(12))
    model = encoder(store.spec)
    model(batch)
    model.train(training)
    # Not near 0: there a column is almost constant, and its normalisation magnifies rounding.
    keep, more = (torch.empty(count).uniform_(0.2, 1.0).requires_grad_() for count in (batch.num_edges, 9))
    ends = torch.randint(0, batch.num_nodes, (2, 9), generator=torch.Generator().manual_seed(0))
    added = AddedEdges(*ends, more) if view == "added" else None
    given = View() if view == "none" else View(edge_keep=keep, added=added)
    weights = torch.ones(batch.num_edges) if view == "none" else keep
    theirs = dense(model, batch, weights, added, training)
    ours = model(batch, given)
    torch.testing.assert_close(tuple(ours), theirs, rtol=1e-4, atol=1e-4)
    parameters = [p for name, p in model.named_parameters() if "mask" not in name]
    inputs = [*parameters, *([] if view == "none" else [keep]), *([more] if view == "added" else [])]
    mine, right = (torch.autograd.grad(out[1].sin().sum(), inputs) for out in (ours, theirs))
    torch.testing.assert_close(mine, right, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_layer_is_pygs_gcn_also_with_loops(store, weighted):
    """PyG adds a self-loop only where a graph has none; of those with a weight it would keep the weight."""
    batch = store.batch(np.arange(12))
    model = encoder(store.spec, batch_norm=False, num_layers=1)
    conv = GCNConv(6, 6)
    conv.lin.weight, conv.bias = model.layers[0].linear.weight, model.layers[0].linear.bias
    h = F.linear(torch.cat((F.one_hot(batch.x[:, 0], 4).float(), batch.x_num), dim=1), model.input_map.weight).relu()
    loops = batch.col == batch.target
    assert loops.any()
    keep = torch.rand(batch.num_edges) if weighted else torch.ones(batch.num_edges)
    theirs = conv(h, batch.edge_index, keep.masked_fill(loops, 1.0)).relu()
    ours = model(batch, View(edge_keep=keep) if weighted else None).node_emb
    torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)
    if not weighted:
        torch.testing.assert_close(model.node_emb(batch), theirs, rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(model.headed(batch, torch.nn.Identity()).node_emb, theirs, rtol=1e-4, atol=1e-5)


def test_a_batch_without_loops_is_the_same_graphs_without_them(store):
    batch = store.batch(np.arange(12))
    plain, places = batch.loop_free
    assert places is not None and (plain.col != plain.target).all()
    torch.testing.assert_close(plain.edge_index, batch.edge_index[:, batch.col != batch.target])
    torch.testing.assert_close(plain.crow.diff(), torch.bincount(plain.target, minlength=batch.num_nodes))
    torch.testing.assert_close(plain.edge_ptr.diff(), torch.bincount(plain.batch[plain.target], minlength=12))
    if plain.reverse is not None:
        torch.testing.assert_close(plain.edge_index[:, plain.reverse], plain.edge_index.flip(0))
    assert plain.loop_free == (plain, None)


def test_gradients_of_all_weights_are_right_in_double_precision(store):
    batch = store.batch(np.arange(3))
    model = encoder(store.spec, num_layers=2).double().train()
    sizes = (batch.num_edges, batch.num_nodes)
    torch.manual_seed(2)
    weights = [torch.empty(n, dtype=torch.float64).uniform_(0.2, 0.9).requires_grad_() for n in sizes]
    reals = batch.x_num.double()
    object.__setattr__(batch, "x_num", reals)

    def embed(edge_keep, node_keep):
        return model(batch, View(edge_keep, node_keep)).graph_emb.sin().sum()

    assert torch.autograd.gradcheck(embed, weights, eps=1e-7, atol=1e-4, rtol=1e-3)


def test_its_start_is_the_published_one(store):
    model = encoder(store.spec)
    assert all(torch.all(n.bias == 1e-4) for n in model.modules() if isinstance(n, torch.nn.BatchNorm1d))
    before = model.graph_map.weight.clone()
    initialise(model)
    assert torch.equal(model.graph_map.weight, before)
    run = resolve({"method": "supervised", "encoder": {"name": "resgcn", "hidden_dim": 64}})
    head = build_method(run, store.spec, store.task).head
    assert head.weight.abs().max() <= 1 / 8, "torch's own start: uniform within 1 / sqrt(64)"
    assert head.bias.abs().max() > 0 and METHODS["supervised"]


def test_settings_have_published_defaults(store):
    model = make_encoder(resolve({"encoder": {"name": "resgcn"}}).encoder, store.spec)
    assert (model.graph_dim, len(model.layers), model.config.readout) == (128, 3, "sum")
    assert model.input_map.bias is None and model.graph_dim == encoder(store.spec, layers="all").graph_dim + 122
