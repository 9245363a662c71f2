"""Like nodes computed once: the same rows, gradients and running statistics as node by node."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch

from adgcl.encoders.base import EncoderConfig, make_encoder
from adgcl.encoders.dropout import give_generator
from adgcl.graphs.kernels.quotient import quotient
from adgcl.graphs.store.store import pack
from adgcl.graphs.store.view import View
from tests.graph_cases import random_store


def stores():
    edgeless = np.zeros((2, 0), dtype=np.int64)
    return {
        "undirected": random_store(seed=2, num_graphs=14, node_sizes=(3, 2), edge_sizes=(2,)),
        "directed": random_store(seed=5, num_graphs=9, directed=True, node_sizes=(2,), edge_sizes=(3,)),
        "real values": random_store(seed=1, num_graphs=6, num_dim=1),
        "alike": pack([4, 4, 4], [0, 0, 0], edgeless),
        "one node": pack([1], [0], edgeless),
    }


def batch_of(case: str):
    store = stores()[case]
    ids = np.arange(len(store))
    # Graphs that come twice are alike node by node.
    batch = store.batch(np.concatenate((ids, ids[::2])) if len(store) > 3 else ids)
    return batch, store.spec


def rows_of(encoder, batch, view, by_classes: bool):
    """The rows and gradients by classes, or node by node."""
    encoder.by_classes = by_classes
    emb = encoder(batch, view)
    weight = torch.linspace(-1, 1, emb.node_emb.numel(), dtype=emb.node_emb.dtype).view_as(emb.node_emb)
    ((emb.node_emb * weight).sum() + emb.graph_emb.pow(2).sum()).backward()
    grads = {name: p.grad for name, p in encoder.named_parameters() if p.grad is not None}
    grads |= {name: keep.grad for name, keep in vars(view).items() if keep is not None and keep.grad is not None}
    return emb, grads, dict(encoder.named_buffers())


def views_of(batch):
    """Nothing changed, and weights of edges and of nodes that need a gradient."""
    edges = torch.linspace(0.1, 1, batch.num_edges, dtype=torch.double, requires_grad=True)
    nodes = torch.linspace(1, 0.5, batch.num_nodes, dtype=torch.double, requires_grad=True)
    return {"unchanged": View(), "edges": View(edge_keep=edges), "both": View(edge_keep=edges, node_keep=nodes)}


@pytest.mark.parametrize("kind", ["unchanged", "edges", "both"])
@pytest.mark.parametrize("layers", ["last", "all"])
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("batch_norm", [True, False])
@pytest.mark.parametrize("case", list(stores()))
def test_by_classes_is_node_by_node(case, batch_norm, training, layers, kind):
    batch, spec = batch_of(case)
    if batch.x_num is not None:
        batch = replace(batch, x_num=batch.x_num.double())
    torch.manual_seed(0)
    config = EncoderConfig(name="gine", hidden_dim=6, num_layers=3, layers=layers, batch_norm=batch_norm)
    one = make_encoder(config, spec).double().train(training)
    other = copy.deepcopy(one)
    emb, grads, buffers = rows_of(one, batch, views_of(batch)[kind], True)
    slow, slow_grads, slow_buffers = rows_of(other, batch, views_of(batch)[kind], False)
    torch.testing.assert_close(emb, slow)
    torch.testing.assert_close(buffers, slow_buffers)
    if case == "alike" and training and batch_norm:
        return  # without any variance, normalisations blow rounding errors up to the size of gradients
    for part, grad in slow_grads.items():
        torch.testing.assert_close(grads[part], grad, rtol=1e-6, atol=1e-8)


def test_messages_reach_what_they_reach_in_the_batch():
    batch, _ = batch_of("undirected")
    classes = quotient(batch, 3)
    assert quotient(batch, 3) is classes
    before = torch.empty(batch.num_nodes, dtype=torch.long)
    before[classes.first] = torch.arange(len(classes.first))
    for node, same in enumerate((batch.x[:, None] == batch.x[classes.first][None]).all(2)):
        before[node] = same.nonzero()[0, 0]
    for block, after in zip(classes.blocks, classes.members):
        assert block.counts.sum() == batch.num_nodes
        for node in range(batch.num_nodes):
            incoming = (batch.target == node).nonzero()[:, 0]
            mine = (block.target == after[node]).nonzero()[:, 0]
            theirs = [(int(before[batch.edge_index[0, e]]), int(batch.edge_attr[e, 0])) for e in incoming]
            ours = [(int(block.col[m]), int(batch.edge_attr[block.edge[m], 0])) for m in mine]
            assert sorted(ours) == sorted(theirs) and block.own[after[node]] == before[node]
        before = after


def test_a_pair_is_two_passes():
    batch, spec = batch_of("undirected")
    one = make_encoder(EncoderConfig(name="gine", hidden_dim=6, num_layers=3), spec).double()
    other = copy.deepcopy(one)
    view = View(edge_keep=torch.rand(batch.num_edges))
    torch.testing.assert_close(one.pair(batch, view), (other(batch), other(batch, view)))
    torch.testing.assert_close(dict(one.named_buffers()), dict(other.named_buffers()))


@pytest.mark.parametrize("layers", ["last", "all"])
@pytest.mark.parametrize("by_classes", [True, False])
def test_a_head_sees_every_node(layers, by_classes):
    batch, spec = batch_of("undirected")
    encoder = make_encoder(EncoderConfig(name="gine", hidden_dim=6, num_layers=3, layers=layers), spec).double()
    other = copy.deepcopy(encoder)
    encoder.by_classes, other.by_classes = by_classes, False
    head = torch.nn.Linear(encoder.node_dim, 4).double()
    seen = []
    head.register_forward_hook(lambda module, inputs, out: seen.append(len(inputs[0])))
    mapped, graph_emb = encoder.headed(batch, head)
    (mapped.pow(3).sum() + graph_emb.pow(2).sum()).backward()
    of_head, head.weight.grad = head.weight.grad, None
    node_emb, slow_graph_emb = other(batch)
    slow = head(node_emb)
    (slow.pow(3).sum() + slow_graph_emb.pow(2).sum()).backward()
    torch.testing.assert_close((mapped, graph_emb), (slow, slow_graph_emb))
    torch.testing.assert_close(of_head, head.weight.grad)
    for ours, theirs in zip(encoder.parameters(), other.parameters()):
        if theirs.grad is not None:
            torch.testing.assert_close(ours.grad, theirs.grad, rtol=1e-6, atol=1e-8)
    assert (seen[0] < batch.num_nodes) == by_classes and seen[1] == batch.num_nodes


def test_dropout_treats_like_nodes_one_by_one():
    batch, spec = batch_of("alike")
    encoder = make_encoder(EncoderConfig(name="gine", hidden_dim=40, num_layers=2, dropout=0.5), spec)
    assert len(torch.unique(encoder(batch).node_emb, dim=0)) > 1
    assert len(torch.unique(encoder.eval()(batch).node_emb, dim=0)) == 1


@pytest.mark.parametrize("kind", ["unchanged", "both"])
@pytest.mark.parametrize("case", ["undirected", "directed"])
def test_noise_falls_on_the_same_rows_whether_or_not_what_precedes_it_is_shared(case, kind):
    batch, spec = batch_of(case)
    encoder = make_encoder(EncoderConfig(name="gine", hidden_dim=24, num_layers=3, dropout=0.5), spec).double()
    found = []
    for by_classes in (True, False):
        one = copy.deepcopy(encoder)
        give_generator(one, torch.Generator().manual_seed(7))
        found.append(rows_of(one, batch, views_of(batch)[kind], by_classes))
    torch.testing.assert_close(found[0], found[1], rtol=1e-6, atol=1e-7)
