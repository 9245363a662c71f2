"""Fixed augmentations: exact counts, slow versions, and that graphs nobody chose are left alone."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from adgcl.augmentations.random_base import FIXED, RandomConfig, edge_owner, edges_gone, smallest, whole_numbers
from adgcl.augmentations.random_choice import RandomChoice, choices
from adgcl.augmentations.random_edges import RandomEdgeDrop, RandomEdgePerturb
from adgcl.core.errors import ConfigError
from adgcl.graphs.store.store import pack
from adgcl.graphs.store.view import View
from adgcl.training.run_config import resolve
from tests.graph_cases import random_store

BATCH = random_store(num_graphs=30, seed=3).batch(np.arange(30))
DIRECTED = random_store(num_graphs=30, seed=3, directed=True).batch(np.arange(30))
ALL = torch.ones(30, dtype=torch.bool)


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def per_graph(gone: torch.Tensor, owner: torch.Tensor) -> list[int]:
    """How many items each graph lost, one item at a time."""
    counts = [0] * 30
    for lost, graph in zip(gone.tolist(), owner.tolist()):
        counts[graph] += int(lost)
    return counts


@pytest.mark.parametrize("batch", [BATCH, DIRECTED], ids=["undirected", "directed"])
@pytest.mark.parametrize("ratio", [0.0, 0.1, 0.3, 0.7, 0.9])
def test_counts_are_exact(batch, ratio):
    config = RandomConfig(ratio=ratio)
    edges = 1 - FIXED["random_edge_drop"](config)(batch, generator()).view.edge_keep
    assert per_graph(edges, edge_owner(batch)) == [int(ratio * n) for n in batch.edge_counts.tolist()]
    nodes = 1 - FIXED["random_node_drop"](config)(batch, generator()).view.node_keep
    assert per_graph(nodes, batch.batch) == [int(ratio * n) for n in batch.node_counts.tolist()]
    masked = 1 - FIXED["random_feature_mask"](config)(batch, generator()).view.feature_keep
    assert per_graph(masked, batch.batch) == [int(ratio * n) for n in batch.node_counts.tolist()]


def test_products_round_as_python_rounds_them():
    """0.29 * 100 is a little less than 29 in 64 bits, and not in 32."""
    ring = np.arange(50)
    store = pack([50], [100], np.stack([np.r_[ring, ring], np.r_[np.roll(ring, 1), np.roll(ring, -1)]]))
    keep = RandomEdgeDrop(RandomConfig(ratio=0.29))(store.batch([0]), generator()).view.edge_keep
    assert int((1 - keep).sum()) == int(0.29 * 100) == 28


@pytest.mark.parametrize("name", ["random_edge_drop", "random_edge_perturb"])
def test_tied_edges_go_together(name):
    view = FIXED[name](RandomConfig(ratio=0.4, tied=True))(BATCH, generator()).view
    assert torch.equal(view.edge_keep, view.edge_keep[BATCH.reverse])
    place = torch.arange(BATCH.num_edges)
    pairs = (place <= BATCH.reverse).nonzero().squeeze(1)
    owner = edge_owner(BATCH)[pairs]
    expected = [int(0.4 * int((owner == g).sum())) for g in range(30)]
    assert per_graph(1 - view.edge_keep[pairs], owner) == expected


def test_one_way_edges_have_nothing_to_tie():
    views = [
        FIXED["random_edge_drop"](RandomConfig(ratio=0.4, tied=t))(DIRECTED, generator()).view for t in (True, False)
    ]
    assert torch.equal(views[0].edge_keep, views[1].edge_keep)


def test_every_subset_is_equally_likely():
    owner, counts = torch.tensor([0] * 4 + [1] * 2).repeat(3000), torch.tensor([2, 1]).repeat(3000)
    owner = owner + 2 * torch.arange(3000).repeat_interleave(6)
    marked = smallest(whole_numbers(len(owner), generator()), owner, counts).reshape(3000, 6)
    assert (marked[:, :4].sum(1) == 2).all() and (marked[:, 4:].sum(1) == 1).all()
    codes = (marked[:, :4] * torch.tensor([8, 4, 2, 1])).sum(1)
    _, seen = torch.unique(codes, return_counts=True)
    assert len(seen) == math.comb(4, 2)
    assert (seen / 3000 - 1 / 6).abs().max() < 0.03


def test_smallest_marks_what_a_sort_of_each_graph_marks():
    owner = BATCH.batch
    keys = torch.randint(0, 50, (len(owner),), generator=generator())
    counts = torch.randint(0, 9, (30,), generator=generator(1)).minimum(BATCH.node_counts)
    marked = smallest(keys, owner, counts)
    for graph, count in enumerate(counts.tolist()):
        mine = keys[owner == graph]
        assert sorted(mine[marked[owner == graph]].tolist()) == sorted(mine.tolist())[:count]


def test_perturbation_adds_new_pairs_inside_each_graph():
    big = random_store(num_graphs=6, seed=1)
    wheel = np.arange(1, 40)
    store = pack([40], [78], np.stack([np.r_[wheel, wheel * 0], np.r_[wheel * 0, wheel]]))
    for batch, ratio in ((store.batch([0]), 0.5), (big.batch(np.arange(6)), 0.9)):
        augmented = RandomEdgePerturb(RandomConfig(ratio=ratio))(batch, generator())
        added = augmented.view.added
        assert len(added.source) == int((1 - augmented.view.edge_keep).sum())
        assert torch.equal(batch.batch[added.source], batch.batch[added.target])
        have = set(map(tuple, batch.edge_index.t().tolist()))
        for source, target, keep in zip(added.source.tolist(), added.target.tolist(), added.keep.tolist()):
            assert keep == float(source != target and (source, target) not in have)
    assert added.keep.sum() < len(added.keep)  # small graphs: some pairs were edges already


def test_tied_perturbation_adds_both_directions():
    added = RandomEdgePerturb(RandomConfig(ratio=0.6, tied=True))(BATCH, generator()).view.added
    pairs = sorted(zip(added.source.tolist(), added.target.tolist(), added.keep.tolist()))
    assert pairs == sorted(zip(added.target.tolist(), added.source.tolist(), added.keep.tolist()))


@pytest.mark.parametrize("name", list(FIXED))
def test_graphs_that_were_not_chosen_are_left_alone(name):
    chosen = torch.arange(30) % 3 == 0
    view = FIXED[name](RandomConfig(ratio=0.6, subgraph_ratio=0.3)).view(BATCH, chosen, generator())
    for keep, owner in ((view.edge_keep, edge_owner(BATCH)), (view.node_keep, BATCH.batch),
                        (view.feature_keep, BATCH.batch)):  # fmt: skip
        if keep is not None:
            assert set(keep.tolist()) == {0.0, 1.0}
            assert (keep[~chosen[owner]] == 1).all()
    if view.added is not None:
        assert chosen[BATCH.batch[view.added.source]].all()


@pytest.mark.parametrize("name", list(FIXED))
def test_awkward_batches(name):
    store = random_store(num_graphs=4, seed=2)
    for ids in ([1], [1, 1], [0, 1]):
        batch = store.batch(ids)
        augmented = FIXED[name](RandomConfig(ratio=0.5))(batch, generator())
        assert torch.isfinite(augmented.drop_ratio)
        node_keep = augmented.view.node_keep
        if node_keep is not None:
            assert torch.zeros(len(ids)).index_add(0, batch.batch, node_keep).min() >= 1


def test_the_share_of_edges_gone_counts_edges_of_lost_nodes():
    view = View(
        edge_keep=(torch.rand(BATCH.num_edges, generator=generator()) > 0.3).float(),
        node_keep=(torch.rand(BATCH.num_nodes, generator=generator()) > 0.3).float(),
    )
    source, target = BATCH.edge_index
    shares = []
    for graph in range(30):
        mine = edge_owner(BATCH) == graph
        if mine.any():
            kept = view.edge_keep[mine] * view.node_keep[source[mine]] * view.node_keep[target[mine]]
            shares.append(1 - float(kept.mean()))
    assert float(edges_gone(view, BATCH)) == pytest.approx(np.mean(shares), rel=1e-5)


def test_each_graph_gets_what_was_chosen_for_it():
    pool = ("random_node_drop", "random_edge_perturb", "random_feature_mask", "identity")
    augmenter = RandomChoice(pool, RandomConfig(ratio=0.5))
    choice = torch.arange(30) % 4
    view = augmenter.view(BATCH, choice, generator())
    expected = {0: (view.node_keep, BATCH.batch, BATCH.node_counts), 2: (view.feature_keep, BATCH.batch,
                BATCH.node_counts), 1: (view.edge_keep, edge_owner(BATCH), BATCH.edge_counts)}  # fmt: skip
    for number, (keep, owner, sizes) in expected.items():
        lost = [int(0.5 * n) if c == number else 0 for n, c in zip(sizes.tolist(), choice.tolist())]
        assert per_graph(1 - keep, owner) == lost
    assert (choice[BATCH.batch[view.added.target]] == 1).all()


def test_choices_follow_their_weights():
    big = random_store(num_graphs=40, seed=0).batch(np.tile(np.arange(40), 100))
    drawn_choices = choices(torch.tensor([0.5, 0.0, 0.3, 0.2]), big, generator())
    seen = torch.bincount(drawn_choices, minlength=4) / 4000
    torch.testing.assert_close(seen, torch.tensor([0.5, 0.0, 0.3, 0.2]), atol=0.03, rtol=0)
    assert seen[1] == 0


@pytest.mark.parametrize("pool", [[], ["identity", "identity"], ["node_drop"]])
def test_a_bad_pool_is_refused(pool):
    with pytest.raises(ConfigError, match="pool"):
        resolve({"method": {"name": "graphcl", "pool": pool}})
