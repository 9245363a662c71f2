"""EdgePred's step against its formula, and its non-edges against drawing them one by one."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
import torch

from adgcl.graphs.store.store import pack
from adgcl.methods.edge_pred import draw_non_edges
from adgcl.training.run_config import resolve
from adgcl.training.trainer import build_method
from tests.graph_cases import random_store
from tests.molecule_cases import hu_molecules

STORE = random_store(num_graphs=10, seed=9, node_sizes=(4,), edge_sizes=(3,))
BATCH = STORE.batch(np.arange(10))


def method(store=STORE, **settings):
    config = resolve({"method": {"name": "edge_pred", **settings}, "encoder": {"hidden_dim": 6, "num_layers": 2}})
    return build_method(config, store.spec, store.task)


def bonds(batch):
    """How many edges each graph has, both directions counted once."""
    owner = batch.batch[batch.target[batch.col < batch.target]]
    return torch.bincount(owner, minlength=batch.num_graphs)


def one_graph(nodes, edges):
    """A batch of one undirected graph."""
    both = [*edges, *((t, s) for s, t in edges)]
    return pack([nodes], [len(both)], np.array(both).T).batch([0])


def slow_non_edges(batch, wanted, generator):
    """One draw after another, in a batch of one graph: a pair is taken unless it is a loop, an edge or known."""
    edges, taken = set(map(tuple, batch.edge_index.t().tolist())), []
    for _ in range(5):
        if len(taken) >= wanted:
            break
        sources, targets = (
            torch.randint(1 << 31, (batch.num_edges,), generator=generator) % batch.num_nodes for _ in range(2)
        )
        for pair in zip(sources.tolist(), targets.tolist()):
            if len(taken) < wanted and pair[0] != pair[1] and pair not in edges and pair not in taken:
                taken.append(pair)
    return taken


def test_the_step_descends_the_plain_formula():
    model = method()
    state = {k: v.clone() for k, v in model.state_dict().items()}
    shown = model.step(BATCH, torch.Generator().manual_seed(3))
    model.load_state_dict(state)
    model.train()
    h = model.encoder(BATCH).node_emb.detach().double()
    negatives = draw_non_edges(BATCH, bonds(BATCH), torch.Generator().manual_seed(3))
    positives = [(s, t) for s, t in BATCH.edge_index.t().tolist() if s < t]
    apart = zip(*map(torch.Tensor.tolist, negatives))
    right = [-math.log(1 / (1 + math.exp(-float(h[s] @ h[t])))) for s, t in positives]
    wrong = [-math.log(1 - 1 / (1 + math.exp(-float(h[s] @ h[t])))) for s, t in apart]
    assert float(shown["loss"]) == pytest.approx(np.mean(right) + np.mean(wrong), rel=1e-4)


@pytest.mark.parametrize("seed", range(25))
def test_non_edges_are_the_first_that_come(seed):
    rng = np.random.default_rng(seed)
    nodes = int(rng.integers(2, 9))
    pairs = [(i, j) for i in range(nodes) for j in range(i)]
    kept = [pair for pair in pairs if rng.random() < rng.choice([0.2, 0.7, 0.95])] or pairs[:1]
    batch = one_graph(nodes, kept)
    ours = draw_non_edges(batch, bonds(batch), torch.Generator().manual_seed(seed))
    slow = slow_non_edges(batch, len(kept), torch.Generator().manual_seed(seed))
    assert list(zip(*map(torch.Tensor.tolist, ours))) == slow


def test_non_edges_of_many_graphs_are_different_and_none_is_an_edge():
    store = random_store(num_graphs=60, seed=1)
    batch = store.batch(np.arange(60))
    source, target = draw_non_edges(batch, bonds(batch), torch.Generator().manual_seed(0))
    pairs = list(zip(source.tolist(), target.tolist()))
    assert len(set(pairs)) == len(pairs) and not set(pairs) & set(map(tuple, batch.edge_index.t().tolist()))
    assert (source != target).all() and torch.equal(batch.batch[source], batch.batch[target])
    counts = torch.bincount(batch.batch[source], minlength=60)
    assert (counts <= bonds(batch)).all()
    # Nothing keeps a graph with few edges and many other pairs from getting all it wants.
    free = batch.node_counts * (batch.node_counts - 1) - 2 * bonds(batch)
    roomy = free > 4 * bonds(batch)
    assert roomy.any() and torch.equal(counts[roomy], bonds(batch)[roomy])


def test_non_edges_are_drawn_uniformly():
    batch = one_graph(4, [(0, 1), (1, 2), (2, 3)])
    counts = Counter()
    for seed in range(400):
        source, target = draw_non_edges(batch, torch.tensor([2]), torch.Generator().manual_seed(seed))
        counts.update(zip(source.tolist(), target.tolist()))
    assert set(counts) == {(0, 2), (2, 0), (0, 3), (3, 0), (1, 3), (3, 1)}
    # 800 pairs over 6: about 133 each, with a standard deviation near 9.
    assert all(90 < count < 180 for count in counts.values())


def test_a_complete_graph_has_no_negatives():
    batch = one_graph(4, [(i, j) for i in range(4) for j in range(i)])
    assert not len(draw_non_edges(batch, torch.tensor([6]), torch.Generator())[0])
    store = random_store(num_graphs=1)
    assert torch.isfinite(method(store).step(batch, torch.Generator())["loss"])


def test_every_molecule_gets_a_negative_for_each_bond():
    store = hu_molecules()
    big = np.flatnonzero(store.node_counts > 7)
    batch = store.batch(big)
    source, _ = draw_non_edges(batch, bonds(batch), torch.Generator().manual_seed(0))
    assert len(big) > 200 and torch.equal(torch.bincount(batch.batch[source]), batch.edge_counts // 2)


def test_nothing_moves_where_there_are_no_edges():
    model, batch = method(), STORE.batch([1])
    assert batch.num_edges == 0
    before = {k: v.clone() for k, v in model.state_dict().items()}
    assert model.step(batch, torch.Generator())["loss"] == 0
    torch.testing.assert_close(model.state_dict(), before, rtol=0, atol=0)
