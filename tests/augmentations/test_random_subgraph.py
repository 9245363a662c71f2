"""The random walk against a walk taken one step at a time."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
import torch

from adgcl.augmentations.random_base import RandomConfig
from adgcl.augmentations.random_subgraph import RandomSubgraph
from adgcl.graphs.store.store import pack
from tests.graph_cases import random_store

# A triangle with a tail, a leaf on the triangle, and two nodes apart from the rest.
EDGES = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (1, 6), (7, 8)]
SIZE = 9


def neighbours(edges: list[tuple[int, int]], size: int) -> list[set[int]]:
    """Where the edges (source, target) lead to from each node."""
    result: list[set[int]] = [set() for _ in range(size)]
    for source, target in edges:
        result[source].add(target)
    return result


def walk(beside: list[set[int]], count: int, star: bool, rng: random.Random) -> frozenset[int]:
    """Start anywhere and take in neighbours one by one."""
    first = rng.randrange(len(beside))
    found, border = {first}, set(beside[first]) - {first}
    while len(found) < count and border:
        new = rng.choice(sorted(border))
        found.add(new)
        border.discard(new)
        if not star:
            border |= beside[new] - found
    return frozenset(found)


def subgraphs(batch, ratio: float, star: bool = False, seed: int = 0) -> list[frozenset[int]]:
    """What is kept of every graph, as node numbers of its own."""
    augmenter = RandomSubgraph(RandomConfig(subgraph_ratio=ratio, star_subgraph=star))
    keep = augmenter(batch, torch.Generator().manual_seed(seed)).view.node_keep
    ends = batch.node_ptr.tolist()
    return [frozenset(keep[a:b].nonzero().squeeze(1).tolist()) for a, b in pairwise(ends)]


@pytest.mark.parametrize("star", [False, True])
@pytest.mark.parametrize("count", [2, 4, 6])
def test_every_outcome_is_as_likely_as_in_the_slow_walk(count, star):
    both = EDGES + [(t, s) for s, t in EDGES]
    batch = pack([SIZE], [len(both)], np.array(both).T).batch(np.zeros(6000, dtype=int))
    ours = Counter(subgraphs(batch, (count - 1) / SIZE + 0.01, star))
    rng = random.Random(0)
    slow = Counter(walk(neighbours(both, SIZE), count, star, rng) for _ in range(6000))
    assert set(ours) <= set(slow) | {s for s, n in ours.items() if n < 10}
    # Half the sum of differences is 0 for equal distributions; two samples of this size differ by a few percent.
    distance = sum(abs(ours[s] - slow[s]) for s in set(ours) | set(slow)) / 2 / 6000
    assert distance < 0.06


@pytest.mark.parametrize("ratio", [0.2, 0.5, 0.8, 1.0])
def test_a_subgraph_is_connected_and_as_large_as_it_can_be(ratio):
    store = random_store(num_graphs=40, seed=5)
    batch = store.batch(np.arange(40))
    source, target = batch.edge_index
    for graph, found in enumerate(subgraphs(batch, ratio)):
        mine, first = batch.batch[target] == graph, int(batch.node_ptr[graph])
        size = int(batch.node_counts[graph])
        edges = list(zip((source[mine] - first).tolist(), (target[mine] - first).tolist()))
        beside = neighbours(edges, size)
        reached, border = set(), [min(found)]
        while border:
            node = border.pop()
            reached.add(node)
            border += [n for n in beside[node] if n not in reached]
        assert found <= reached
        inside = {min(found)}
        for _ in range(size):
            inside |= {n for node in inside for n in beside[node] if n in found}
        assert inside == found
        assert len(found) == min(int(ratio * size) + 1, size, len(reached))


def test_a_star_never_leaves_its_first_nodes_neighbours():
    """On a path no star has more than three nodes, a walk has as many as it may."""
    ring = np.arange(29)
    path = pack([30], [58], np.stack([np.r_[ring, ring + 1], np.r_[ring + 1, ring]])).batch(np.zeros(50, dtype=int))
    assert max(map(len, subgraphs(path, 0.5, star=True))) == 3
    assert set(map(len, subgraphs(path, 0.5))) == {16}


def test_one_way_edges_are_walked_one_way():
    arrows = pack([4], [3], np.array([[0, 1, 2], [1, 2, 3]])).batch(np.zeros(200, dtype=int))
    outcomes = {tuple(sorted(s)) for s in subgraphs(arrows, 0.5)}
    assert outcomes == {(0, 1, 2), (1, 2, 3), (2, 3), (3,)}
