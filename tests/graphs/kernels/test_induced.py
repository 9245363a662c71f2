"""Graphs without dropped nodes mean the same as graphs whose dropped nodes weigh nothing."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from adgcl.augmentations.random_base import FIXED, RandomConfig
from adgcl.augmentations.random_choice import RandomChoice
from adgcl.encoders.base import EncoderConfig, make_encoder
from adgcl.graphs.kernels.induced import induced
from adgcl.graphs.store.view import View
from tests.graph_cases import random_store

CASES = {"gin": {"num_dim": 2}, "gine": {"node_sizes": (4,), "edge_sizes": (3,)}}


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_same_embeddings_as_with_weights(name, training, directed):
    store = random_store(num_graphs=12, seed=6, directed=directed, **CASES[name])
    batch = store.batch(np.arange(12))
    pool = RandomChoice([n for n in FIXED if n != "identity"], RandomConfig(ratio=0.5, subgraph_ratio=0.5))
    view = pool.view(batch, torch.arange(12) % 5, torch.Generator().manual_seed(1))
    assert all(w is not None for w in (view.edge_keep, view.node_keep, view.feature_keep, view.added))
    torch.manual_seed(0)
    encoder = make_encoder(EncoderConfig(name=name, hidden_dim=5, num_layers=3), store.spec).train(training)
    state = {k: v.clone() for k, v in encoder.state_dict().items()}

    def outcome(*arguments):
        encoder.load_state_dict(state)
        encoder.zero_grad()
        graph_emb = encoder(*arguments).graph_emb
        graph_emb.square().mean().backward()
        return graph_emb.detach(), [p.grad for p in encoder.parameters()], [b.clone() for b in encoder.buffers()]

    torch.testing.assert_close(outcome(*induced(batch, view)), outcome(batch, view), rtol=1e-3, atol=1e-4)


def test_the_smaller_batch_is_the_induced_subgraph():
    store = random_store(num_graphs=12, seed=6, node_sizes=(7,), edge_sizes=(3,))
    batch = store.batch(np.arange(12))
    keep = FIXED["random_node_drop"](RandomConfig(ratio=0.5))(batch, torch.Generator()).view.node_keep
    smaller, view = induced(batch, View(node_keep=keep))
    assert view == View()
    nodes = keep.nonzero().squeeze(1).tolist()
    edges = [
        (nodes.index(s), nodes.index(t), code)
        for (s, t), code in zip(batch.edge_index.t().tolist(), batch.edge_attr[:, 0].tolist())
        if s in nodes and t in nodes
    ]
    ours = zip(smaller.edge_index[0].tolist(), smaller.edge_index[1].tolist(), smaller.edge_attr[:, 0].tolist())
    assert list(ours) == edges
    assert torch.equal(smaller.x, batch.x[nodes])
    assert torch.equal(smaller.batch, batch.batch[nodes])
    assert torch.equal(smaller.edge_index.flip(0), smaller.edge_index[:, smaller.reverse])
    assert torch.equal(torch.repeat_interleave(torch.arange(len(nodes)), smaller.crow.diff()), smaller.target)
    assert int(smaller.edge_ptr[-1]) == len(edges) and smaller.num_graphs == 12
