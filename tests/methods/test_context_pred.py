"""ContextPred's step against subgraphs that are cut out one by one."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from adgcl.graphs.store.store import pack
from adgcl.methods.context_pred import context_loss
from adgcl.training.run_config import resolve
from adgcl.training.trainer import build_method
from tests.graph_cases import random_store
from tests.molecule_cases import hu_molecules

SMALL = random_store(num_graphs=40, seed=9, node_sizes=(4,), edge_sizes=(3,))


def method(store, encoder="gine", layers=2, read="last", width=6, **settings):
    shape = {"name": encoder, "hidden_dim": width, "num_layers": layers, "layers": read}
    tree = {"method": {"name": "context_pred", **settings}, "encoder": shape}
    return build_method(resolve(tree), store.spec, store.task)


def noise(seed=3):
    return torch.Generator().manual_seed(seed)


def neighbourhood(batch, root, hops):
    """The nodes at most so many hops from `root`, by growing the set edge by edge."""
    inside = {root}
    for _ in range(hops):
        inside |= {s for s, t in batch.edge_index.t().tolist() if t in inside}
    return inside


def cut(batch, spec, parts):
    """A batch whose graphs are those nodes of `batch` with the edges between them; and where each node went."""
    parts = [sorted(part) for part in parts]
    place = {node: i for i, node in enumerate(node for part in parts for node in part)}
    counts, ends, kinds = [], [], []
    for part in parts:
        local = {node: i for i, node in enumerate(part)}
        pairs = [(e, s, t) for e, (s, t) in enumerate(batch.edge_index.t().tolist()) if s in local and t in local]
        counts.append(len(pairs))
        ends += [(local[s], local[t]) for _, s, t in pairs]
        kinds += [batch.edge_attr[e].tolist() for e, _, _ in pairs]
    nodes = [node for part in parts for node in part]
    store = pack(
        [len(part) for part in parts],
        counts,
        np.array(ends, dtype=np.int64).reshape(-1, 2).T,
        x=batch.x[nodes].numpy(),
        edge_attr=np.array(kinds, dtype=np.int64).reshape(-1, batch.edge_attr.shape[1]),
        spec=spec,
    )
    return store.batch(np.arange(len(parts))), place


def slow_rows(model, batch, spec, roots, inner, outer):
    """The rows of all roots and the mean rows of their contexts, graph by graph."""
    k = model.encoder.config.num_layers
    near = [neighbourhood(batch, root, k) for root in roots]
    rings = [neighbourhood(batch, root, inner) ^ neighbourhood(batch, root, outer) for root in roots]
    having = [g for g, ring in enumerate(rings) if ring]
    assert 2 <= len(having) < len(roots)
    subs, sub_place = cut(batch, spec, [near[g] for g in having])
    contexts, place = cut(batch, spec, [rings[g] for g in having])
    h = model.encoder(subs).node_emb[[sub_place[roots[g]] for g in having]]
    node_emb = model.context_encoder(contexts).node_emb
    return h, torch.stack([node_emb[[place[i] for i in sorted(rings[g] & near[g])]].mean(0) for g in having])


@pytest.mark.parametrize(
    "case, encoder", [("small", "gin"), ("small", "gine"), *(("molecules", name) for name in ("gin", "gine", "hu_gin"))]
)
def test_the_step_descends_the_plain_formula(case, encoder):
    # With five layers, as published, the context is 5 to 7 hops away: more than 4, at most 7.
    store, layers, inner, outer = (SMALL, 2, 1, 4) if case == "small" else (hu_molecules(), 5, 4, 7)
    model, batch = method(store, encoder, layers), store.batch(np.arange(40))
    state = {k: v.clone() for k, v in model.state_dict().items()}
    shown = model.step(batch, noise())
    model.load_state_dict(state)
    model.train()
    drawn = torch.randint(1 << 31, (40,), generator=noise())
    roots = (batch.node_ptr[:-1] + drawn % batch.node_counts).tolist()
    h, c = (rows.detach().double() for rows in slow_rows(model, batch, store.spec, roots, inner, outer))
    total = 0.0
    for i in range(len(h)):
        total += math.log(1 + math.exp(-float(h[i] @ c[i]))) / len(h)
        total += math.log(1 + math.exp(float(h[i] @ c[(i + 1) % len(h)]))) / len(h)
    assert float(shown["loss"]) == pytest.approx(total, rel=1e-4)


@pytest.mark.parametrize("neg_samples, others", [(1, [1]), (2, [1, 2]), (9, [1, 2, 3])])
def test_negatives_are_the_next_contexts_in_a_circle(neg_samples, others):
    h, c = torch.randn(2, 4, 5, generator=noise(), dtype=torch.float64)
    positive = np.mean([math.log(1 + math.exp(-float(h[i] @ c[i]))) for i in range(4)])
    negative = np.mean([math.log(1 + math.exp(float(h[i] @ c[(i + k) % 4]))) for i in range(4) for k in others])
    assert context_loss(h, c, neg_samples).item() == pytest.approx(positive + neg_samples * negative, rel=1e-5)


def test_nothing_moves_where_there_is_nobody_to_compare_with():
    model = method(SMALL)
    before = {k: v.clone() for k, v in model.state_dict().items()}
    for ids in ([1], [1, 1, 1]):
        assert model.step(SMALL.batch(ids), noise())["loss"] == 0
    torch.testing.assert_close(model.state_dict(), before, rtol=0, atol=0)


def test_only_the_main_encoder_is_kept():
    model, batch = method(SMALL, read="all", context_size=4), SMALL.batch(np.arange(40))
    assert len(model.context_encoder.layers) == 4 and model.width == 12
    assert float(model.step(batch, noise())["loss"]) > 0
    before = model.embed(batch)
    with torch.no_grad():
        for parameter in model.context_encoder.parameters():
            parameter.zero_()
    assert torch.equal(model.embed(batch), before)


def test_molecules_are_recognised_from_what_surrounds_a_part_of_them():
    store = hu_molecules()
    model, generator, rng = method(store, layers=3, width=32, lr=0.005), noise(), np.random.default_rng(0)
    losses = [float(model.step(store.batch(rng.permutation(642)[:128]), generator)["loss"]) for _ in range(150)]
    # Knowing nothing costs 2 log 2. FreeSolv's molecules are so alike that a context often fits the next one too.
    assert np.mean(losses[-20:]) < 2 * math.log(2) - 0.05
