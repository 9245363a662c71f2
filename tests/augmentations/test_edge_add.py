"""The learnable edge adder and its candidates."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from adgcl.augmentations.edge_add import candidate_pairs
from adgcl.graphs.kernels.added import are_edges
from adgcl.graphs.store.store import pack
from tests.augmentation_cases import BATCH, augmenter, generator, pushed, slow_mean
from tests.graph_cases import random_store
from tests.graph_strategies import packed, plain_graphs


@given(plain_graphs(), st.floats(0.1, 5.0), st.integers(0, 9))
@settings(max_examples=60, deadline=None)
def test_candidates_are_new_pairs_inside_their_graphs(graphs, share, seed):
    batch = packed(graphs).batch(np.arange(len(graphs)))
    one, other = candidate_pairs(batch, share, generator(seed))
    edges = {frozenset(edge) for edge in batch.edge_index.t().tolist()}
    found = [frozenset(pair) for pair in zip(one.tolist(), other.tolist())]
    assert len(set(found)) == len(found)
    assert not edges & set(found)
    assert all(len(pair) == 2 for pair in found)
    torch.testing.assert_close(batch.batch[one], batch.batch[other])
    counts = torch.bincount(batch.batch[one], minlength=batch.num_graphs)
    assert (counts <= torch.ceil(batch.edge_counts * share / 2)).all()


def ring(size: int):
    place = np.arange(size)
    return np.stack([np.r_[place, (place + 1) % size], np.r_[(place + 1) % size, place]])


def test_sparse_graphs_get_nearly_all_they_ask_for_and_all_pairs_are_equally_likely():
    batch = pack([200, 50], [400, 100], np.concatenate([ring(200), ring(50)], 1)).batch([0, 1])
    one, _ = candidate_pairs(batch, 0.5, generator())
    counts = torch.bincount(batch.batch[one], minlength=2)
    assert 95 <= counts[0] <= 100 and 22 <= counts[1] <= 25
    small = pack([5], [10], ring(5)).batch([0] * 4000)
    low, high = candidate_pairs(small, 0.2, generator())
    chances = torch.bincount((low % 5) * 5 + high % 5)
    chances = chances[chances > 0] / 4000
    assert len(chances) == 5  # ten pairs, five of them edges
    torch.testing.assert_close(chances, torch.full((5,), 0.1), atol=0.02, rtol=0)


def test_complete_edgeless_and_single_node_graphs_get_none():
    clique = np.stack([g.ravel() for g in np.meshgrid(np.arange(4), np.arange(4))])
    store = pack([4, 3, 1], [16, 0, 1], np.concatenate([clique, [[0], [0]]], 1))
    model = augmenter("edge_add")
    one, _ = candidate_pairs(store.batch([0, 1, 2]), 2.0, generator())
    assert not len(one)
    constant = random_store(num_graphs=2, node_sizes=(4,)).select([1]).batch([0])
    view, ratio = model(constant, generator())
    assert not len(view.added.keep) and ratio.item() == 0.0


def test_weights_and_regulariser_follow_their_formulas():
    model = augmenter("edge_add", temperature=0.5)
    view, ratio = model(BATCH, generator(4))
    added, noise = view.added, generator(4)
    one, other = candidate_pairs(BATCH, 0.5, noise)
    torch.testing.assert_close(added.source, torch.cat((one, other)))
    torch.testing.assert_close(added.target, torch.cat((other, one)))
    h = model.encoder(BATCH).node_emb
    joined = torch.cat((h[added.source], h[added.target]), 1)
    weight = torch.cat(model.ends.weight.chunk(2), 1)
    logits = model.score((joined @ weight.t() + model.bias).relu()).squeeze(1)
    uniform = torch.rand(len(logits), generator=noise) * (1 - 2e-4) + 1e-4
    expected = 1 - torch.sigmoid((logits + torch.log(uniform) - torch.log(1 - uniform)) / 0.5)
    torch.testing.assert_close(added.keep, expected, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(ratio, slow_mean(added.keep, BATCH.batch[added.source], BATCH.num_graphs))
    assert not are_edges(BATCH, added.source, added.target).any()


def test_high_logits_add_nothing_and_tied_directions_agree():
    assert pushed(augmenter("edge_add"), 20.0)(BATCH, generator()).drop_ratio.item() < 1e-3
    for tied in (True, False):
        there, back = augmenter("edge_add", tied=tied)(BATCH, generator()).view.added.keep.chunk(2)
        assert torch.allclose(there, back) == tied


@pytest.mark.parametrize("directed", [True, False])
def test_edges_are_recognised(directed):
    batch = random_store(seed=1, directed=directed).batch(np.arange(12))
    all_pairs = torch.cartesian_prod(torch.arange(batch.num_nodes), torch.arange(batch.num_nodes))
    known = set(map(tuple, batch.edge_index.t().tolist()))
    expected = torch.tensor([tuple(pair) in known for pair in all_pairs.tolist()])
    assert torch.equal(are_edges(batch, *all_pairs.t()), expected)
