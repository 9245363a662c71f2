"""Distances in hops against a search that takes one node at a time."""

from __future__ import annotations

from collections import deque

import numpy as np
import pytest
import torch

from adgcl.graphs.kernels.hops import hop_distances
from adgcl.graphs.kernels.undirected import edges_once
from tests.graph_cases import random_store


def slow_distances(batch, roots, limit):
    """Breadth-first from the roots, against the direction of edges."""
    senders = {node: [] for node in range(batch.num_nodes)}
    for source, target in batch.edge_index.t().tolist():
        senders[target].append(source)
    found = dict.fromkeys(roots, 0)
    queue = deque(roots)
    while queue:
        node = queue.popleft()
        for sender in senders[node]:
            if sender not in found:
                found[sender] = found[node] + 1
                queue.append(sender)
    return [min(found.get(node, limit + 1), limit + 1) for node in range(batch.num_nodes)]


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("limit", [1, 3, 7])
def test_distances_are_those_of_a_plain_search(directed, limit):
    store = random_store(num_graphs=30, seed=2, directed=directed)
    batch = store.batch(np.arange(30))
    rng = np.random.default_rng(limit)
    roots = batch.node_ptr[:-1] + torch.from_numpy(rng.integers(0, batch.node_counts.numpy()))
    expected = slow_distances(batch, roots.tolist(), limit)
    assert hop_distances(batch, roots, limit).tolist() == expected
    assert max(expected) > 1


@pytest.mark.parametrize("directed", [False, True])
def test_every_edge_is_taken_once(directed):
    store = random_store(num_graphs=20, seed=5, directed=directed)
    batch = store.batch(np.arange(20))
    assert (batch.reverse is None) == directed
    pairs = [(s, t) for s, t in batch.edge_index.t().tolist() if s != t]
    taken = edges_once(batch)
    ours = list(zip(batch.col[taken].tolist(), batch.target[taken].tolist()))
    if directed:
        assert sorted(ours) == sorted(pairs)
    else:
        assert sorted(ours) == sorted((s, t) for s, t in pairs if s < t) and 2 * len(ours) == len(pairs)
