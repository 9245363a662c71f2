"""What a View does to an Encoder: weight 0 is removal, weight 1 is presence, in training and evaluation."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from adgcl.encoders.base import ENCODERS, Encoder, EncoderConfig, make_encoder
from adgcl.graphs.store.store import pack
from adgcl.graphs.store.view import AddedEdges, View
from tests.encoder_cases import bare_case, rich_case
from tests.graph_cases import random_store

SHAPES = [(readout, layers) for readout in ("sum", "mean", "max") for layers in ("last", "all")]


@pytest.fixture(params=[(n, s) for n in ENCODERS for s in SHAPES], ids=lambda p: "-".join((p[0], *p[1])))
def case(request):
    name, (readout, layers) = request.param
    store = random_store(seed=5, **rich_case(name))
    return encoder(name, store.spec, readout=readout, layers=layers), store.batch(np.arange(12)), store


def encoder(name, spec, **settings):
    torch.manual_seed(1)
    return make_encoder(EncoderConfig(name=name, hidden_dim=6, num_layers=3, **settings), spec)


def outcome(model, batch, view, training, rows=slice(None)):
    """Embeddings, running statistics and gradients, from the same start."""
    start = {k: v.clone() for k, v in model.state_dict().items()}
    model.train(training)
    model.zero_grad()
    out = model(batch, view)
    out.graph_emb.pow(2).sum().backward()
    grads = {n: p.grad.clone() for n, p in model.named_parameters() if p.grad is not None}
    found = (out.node_emb[rows].detach(), out.graph_emb.detach(), [b.clone() for b in model.buffers()], grads)
    model.load_state_dict(start)
    return found


def same(one, other):
    torch.testing.assert_close(one[:3], other[:3], rtol=1e-4, atol=1e-4)
    for name in set(one[3]) | set(other[3]):
        # A small gradient beside large ones is the difference of sums as large as those.
        atol = 2e-3 + 1e-4 * float(other[3][name].abs().max())
        torch.testing.assert_close(one[3][name], other[3][name], rtol=2e-3, atol=atol, msg=name)


def some_nodes(batch, seed=0):
    """About half the nodes, but at least the first of each graph."""
    kept = torch.rand(batch.num_nodes, generator=torch.Generator().manual_seed(seed)) < 0.5
    kept[batch.node_ptr[:-1]] = True
    return kept


def without(batch, kept, spec):
    """The batch of the same graphs built without some nodes."""
    source, target = batch.edge_index
    edges = kept[source] & kept[target]
    start = torch.cat((torch.zeros(1, dtype=torch.long), kept.long().cumsum(0)))
    nodes = [int(kept[batch.batch == g].sum()) for g in range(batch.num_graphs)]
    owner = batch.batch[target[edges]]
    place = start[batch.edge_index[:, edges]] - start[batch.node_ptr[owner]]

    def cut(table, mask):
        return None if table is None else table[mask].numpy()

    return pack(
        nodes, np.bincount(owner, minlength=batch.num_graphs), place.numpy(), x=cut(batch.x, kept),
        x_num=cut(batch.x_num, kept), edge_attr=cut(batch.edge_attr, edges), spec=spec,
    ).batch(np.arange(batch.num_graphs))  # fmt: skip


@pytest.mark.parametrize("training", [True, False])
def test_node_weight_zero_is_a_removed_node(case, training):
    model, batch, store = case
    kept = some_nodes(batch)
    source, target = batch.edge_index
    # What the weights of a removed node's edges are does not matter.
    edge_keep = torch.where(kept[source] & kept[target], 1.0, torch.rand(batch.num_edges))
    weighted = outcome(model, batch, View(edge_keep=edge_keep, node_keep=kept.float()), training, kept)
    same(weighted, outcome(model, without(batch, kept, store.spec), None, training))


@pytest.mark.parametrize("training", [True, False])
def test_a_last_node_has_no_variance_either(case, training):
    """Like a batch of one node, it is normalised by the running statistics, and these stay as they are."""
    model, _, store = case
    batch = store.batch([0])
    kept = torch.arange(batch.num_nodes) == 2
    weighted = outcome(model, batch, View(node_keep=kept.float()), training, kept)
    same(weighted, outcome(model, without(batch, kept, store.spec), None, training))


@pytest.mark.parametrize("training", [True, False])
def test_weights_of_one_are_no_view(case, training):
    model, batch, _ = case
    nothing = torch.zeros(3, dtype=torch.long)
    ones = View(
        edge_keep=torch.ones(batch.num_edges),
        node_keep=torch.ones(batch.num_nodes),
        feature_keep=torch.ones(batch.num_nodes),
        added=AddedEdges(nothing, nothing + 1, torch.zeros(3)),
    )
    one, other = outcome(model, batch, ones, training), outcome(model, batch, None, training)
    one[3].pop("inputs.mask", None)  # its gradient is 0 there, and absent without a View
    same(one, other)


@pytest.mark.parametrize("name", list(ENCODERS))
@pytest.mark.parametrize("training", [True, False])
def test_an_added_edge_is_an_edge(name, training):
    """With weight 1 it equals an edge of the batch (one that carries nothing), with weight 0 no edge at all."""
    store = random_store(seed=6, **bare_case(name))
    batch = store.batch(np.arange(12))
    chosen = torch.rand(batch.num_edges, generator=torch.Generator().manual_seed(0)) < 0.5
    source, target = batch.edge_index[:, chosen]
    model = encoder(name, store.spec)
    said = silence_edges(model)
    added = AddedEdges(source, target, torch.ones(len(source)))
    moved = outcome(model, batch, View(edge_keep=(~chosen).float(), added=added), training)
    there = outcome(model, batch, None, training)
    for found in (moved, there):
        for parameter in said:  # what edges carry is learned from those that carry something
            found[3].pop(parameter)
    same(moved, there)
    gone = View(added=AddedEdges(source, target, torch.zeros(len(source))))
    same(outcome(model, batch, gone, training), outcome(model, batch, None, training))


def silence_edges(model):
    """Let no edge carry anything; returns the names of the parameters that said what edges carry."""
    said = [name for name, _ in model.named_parameters() if ".bonds." in name or ".marks." in name]
    with torch.no_grad():
        for name in said:
            model.get_parameter(name).zero_()
    return said


def mixed_views(batch):
    generator = torch.Generator().manual_seed(3)

    def weights(count):
        return torch.rand(count, generator=generator).requires_grad_()

    ends = torch.randint(0, batch.num_nodes, (2, 9), generator=generator)
    return [
        View(edge_keep=weights(batch.num_edges)),
        View(),
        View(node_keep=weights(batch.num_nodes), added=AddedEdges(*ends, weights(9))),
        View(feature_keep=weights(batch.num_nodes)),
        View(weights(batch.num_edges), weights(batch.num_nodes), None, AddedEdges(*ends.flip(0), weights(9))),
    ]


def leaves(views):
    kinds = [(v.edge_keep, v.node_keep, v.feature_keep, v.added and v.added.keep) for v in views]
    return [weight for kind in kinds for weight in kind if weight is not None]


@pytest.mark.parametrize("training", [True, False])
def test_any_stack_of_views_is_as_many_passes(case, training):
    model, batch, _ = case
    views = mixed_views(batch)
    parameters = [p for p in model.parameters() if p.requires_grad]
    start = {k: v.clone() for k, v in model.state_dict().items()}
    mix = torch.randn(len(views), batch.num_graphs, model.graph_dim)
    results = []
    for together in (True, False):
        model.load_state_dict(start)
        model.train(training)
        rows = (
            model.stacked(batch, views).graph_emb if together else torch.cat([model(batch, v).graph_emb for v in views])
        )
        loss = (rows.reshape(mix.shape) * mix).tanh().sum()
        grads = torch.autograd.grad(loss, leaves(views) + parameters, allow_unused=True)
        results.append((rows.detach(), [b.clone() for b in model.buffers()], [g for g in grads if g is not None]))
    torch.testing.assert_close(results[0][:2], results[1][:2], rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(results[0][2], results[1][2], rtol=1e-2, atol=1e-3)


@pytest.mark.parametrize("readout", ["sum", "mean", "max"])
def test_gradients_of_all_weights_are_right(readout):
    """Finite differences through whole layers, normalisation and readout, in double precision."""
    store = random_store(num_graphs=3, seed=5, node_sizes=(4,), edge_sizes=(3,))
    batch = store.batch(np.arange(3))
    model = encoder("gine", store.spec, readout=readout).double().train()
    with torch.no_grad():
        model.inputs.mask.normal_()
    ends = torch.randint(0, batch.num_nodes, (2, 5), generator=torch.Generator().manual_seed(0))
    torch.manual_seed(2)
    sizes = (batch.num_edges, batch.num_nodes, batch.num_nodes, 5)
    weights = [torch.empty(n, dtype=torch.float64).uniform_(0.2, 0.9).requires_grad_() for n in sizes]

    def embed(edge_keep, node_keep, feature_keep, keep):
        return model(batch, View(edge_keep, node_keep, feature_keep, AddedEdges(*ends, keep))).graph_emb.sin().sum()

    assert torch.autograd.gradcheck(embed, weights, eps=1e-7, atol=1e-4, rtol=1e-3)


def test_gin_layer_gradients_are_right():
    store = random_store(num_graphs=3, seed=5)
    batch = store.batch(np.arange(3))
    from adgcl.encoders.stack import stack_views

    layer = encoder("gin", store.spec).layers[1].double().train()
    torch.manual_seed(0)
    h = torch.randn(batch.num_nodes, 6, dtype=torch.float64, requires_grad=True)
    node_keep = torch.rand(batch.num_nodes, dtype=torch.float64).requires_grad_()
    keep = torch.rand(4, dtype=torch.float64).requires_grad_()
    ends = torch.randint(0, batch.num_nodes, (2, 4))

    def pass_through(h, node_keep, keep):
        return layer(h, batch, stack_views(batch, [View(node_keep=node_keep, added=AddedEdges(*ends, keep))]), None)

    assert torch.autograd.gradcheck(pass_through, (h, node_keep, keep), eps=1e-7, atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize("training", [True, False])
def test_graphs_without_any_node_left_read_out_as_zeros(case, training):
    model, batch, _ = case
    model.graph_rows = lambda *parts: Encoder.graph_rows(model, *parts)  # without layers after the readout
    keep = (batch.batch != 0).float().requires_grad_()
    out = model.train(training)(batch, View(node_keep=keep)).graph_emb
    assert torch.equal(out[0], torch.zeros_like(out[0]))
    out.sum().backward()
    assert torch.isfinite(out).all() and torch.isfinite(keep.grad).all()
    nothing = torch.zeros(batch.num_nodes, requires_grad=True)
    empty = model(batch, View(node_keep=nothing)).graph_emb
    empty.sum().backward()
    assert not empty.any() and torch.isfinite(nothing.grad).all()


def test_plain_views_take_the_fused_path(monkeypatch):
    """One function for all layers, unless nodes are weighed or edges added."""
    from adgcl.encoders import gin

    calls = []
    fused = gin.fused_layers
    monkeypatch.setattr(gin, "fused_layers", lambda layers, *rest: calls.append(len(layers)) or fused(layers, *rest))
    store = random_store(seed=5)
    batch, model = store.batch(np.arange(12)), encoder("gin", store.spec)
    keep = torch.rand(batch.num_edges)
    model(batch)
    model.pair(batch, View(edge_keep=keep, feature_keep=torch.rand(batch.num_nodes)))
    assert calls == [3, 3]
    model(batch, View(node_keep=torch.ones(batch.num_nodes)))
    assert calls == [3, 3]
