"""AttrMasking's step against its formula; what is hidden, that it stays hidden, and what it learns from molecules."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from adgcl.core.errors import DataError
from adgcl.encoders.stack import Stack
from adgcl.methods.masking import hidden_counts
from adgcl.training.run_config import resolve
from adgcl.training.trainer import build_method
from tests.graph_cases import random_store
from tests.molecule_cases import hu_molecules

OWN = random_store(num_graphs=12, seed=9, node_sizes=(4, 3), edge_sizes=(3,), num_dim=2)


@pytest.fixture(params=["hu", "own"])
def store(request):
    """Atoms that have a code for "hidden", and nodes that have none."""
    return hu_molecules() if request.param == "hu" else OWN


# Which encoder reads which store: that of Hu et al. reads their atoms alone.
READERS = pytest.mark.parametrize(
    "store, encoder",
    [("hu", "gin"), ("hu", "gine"), ("hu", "hu_gin"), ("own", "gin"), ("own", "gine")],
    indirect=["store"],
)


def method(store, encoder="gine", width=6, **settings):
    tree = {"method": {"name": "attr_masking", **settings}, "encoder": {"name": encoder, "hidden_dim": width}}
    return build_method(resolve(tree), store.spec, store.task)


def noise(seed=3):
    return torch.Generator().manual_seed(seed)


def slow_cross_entropy(logits, answers):
    """`-mean log softmax(logits_i)[answer_i]`, row by row."""
    rows = [-torch.log_softmax(row, 0)[answer] for row, answer in zip(logits.detach().double(), answers)]
    return float(torch.stack(rows).mean())


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.15, 0.25, 0.29, 0.7, 0.99])
def test_as_many_are_hidden_as_python_says(rate):
    nodes = torch.arange(1, 3000)
    assert hidden_counts(nodes, rate).tolist() == [min(int(rate * n + 1), n) for n in range(1, 3000)]


def test_a_hidden_atom_shows_the_token_and_the_batch_stays_as_it_is():
    store = hu_molecules()
    batch = store.batch(np.arange(50))
    before = batch.x.clone()
    masked = method(store).mask(batch, noise())
    assert masked.batch.x[masked.hidden].unique(dim=0).tolist() == [[119, 0]]
    assert torch.equal(masked.batch.x[~masked.hidden], before[~masked.hidden])
    assert torch.equal(batch.x, before) and torch.equal(masked.codes, before[masked.nodes, 0])
    counts = torch.bincount(batch.batch[masked.nodes], minlength=50)
    assert torch.equal(counts, hidden_counts(batch.node_counts, 0.15))


def test_masks_are_drawn_anew_from_the_generator(store):
    model, batch, generator = method(store), store.batch(np.arange(12)), noise()
    first, second = (model.mask(batch, generator).hidden for _ in range(2))
    assert not torch.equal(first, second)
    assert torch.equal(first, model.mask(batch, noise()).hidden)


@READERS
def test_the_step_descends_the_plain_formula(store, encoder):
    model, batch = method(store, encoder), store.batch(np.arange(12))
    state = {k: v.clone() for k, v in model.state_dict().items()}
    shown = model.step(batch, noise())
    model.load_state_dict(state)
    model.train()
    masked = model.mask(batch, noise())
    # The rows that go in, with those of hidden nodes put in by hand.
    h = model.encoder.inputs(batch).detach().clone()
    for node in masked.nodes.tolist():
        if store.spec.name != "hu":
            h[node] = model.encoder.inputs.mask.detach()
        else:
            token = replace(batch, x=torch.tensor([[119, 0]]), batch=batch.batch[:1])
            h[node] = model.encoder.inputs(token)[0].detach()
    stack = Stack((None,), (None,))
    node_emb = model.encoder.states(h, batch, stack, model.encoder.edge_inputs(batch))[-1].detach()
    logits = node_emb[masked.nodes] @ model.head.weight.t() + model.head.bias
    assert float(shown["loss"]) == pytest.approx(slow_cross_entropy(logits, batch.x[masked.nodes, 0]), rel=1e-4)


@READERS
def test_nothing_of_what_is_hidden_can_be_seen(store, encoder):
    model, batch = method(store, encoder), store.batch(np.arange(12))
    masked = model.mask(batch, noise())
    other = {"x": batch.x.clone(), "x_num": None if batch.x_num is None else batch.x_num.clone()}
    other["x"][masked.nodes] = (other["x"][masked.nodes] + 1) % 3
    if batch.x_num is not None:
        other["x_num"][masked.nodes] += 1.0
    model.eval()
    shown, changed = (model.states(model.mask(b, noise())) for b in (batch, replace(batch, **other)))
    assert torch.equal(shown, changed)
    assert not torch.equal(model.encoder(batch).node_emb, model.encoder(replace(batch, **other)).node_emb)


def test_what_can_be_answered():
    assert method(hu_molecules()).head.out_features == 119 and method(OWN).head.out_features == 4


def test_hidden_bonds_are_those_of_hidden_atoms_and_are_asked_for_once():
    store = hu_molecules()
    model, batch = method(store, mask_edges=True), store.batch(np.arange(40))
    state = {k: v.clone() for k, v in model.state_dict().items()}
    before = batch.edge_attr.clone()
    shown = model.step(batch, noise())
    assert torch.equal(batch.edge_attr, before)
    model.load_state_dict(state)
    masked = model.mask(batch, noise())
    hidden = set(masked.nodes.tolist())
    seen, asked = before.clone(), []
    for e, (source, target) in enumerate(batch.edge_index.t().tolist()):
        if source in hidden or target in hidden:
            seen[e] = torch.tensor([5, 0])
            if source < target:
                asked.append(e)
    model.train()
    h = model.encoder(replace(masked.batch, edge_attr=seen)).node_emb.detach()
    atoms = slow_cross_entropy(h[masked.nodes] @ model.head.weight.t() + model.head.bias, masked.codes)
    both = torch.stack([h[batch.col[e]] + h[batch.target[e]] for e in asked])
    bonds = slow_cross_entropy(both @ model.edge_head.weight.t() + model.edge_head.bias, before[asked, 0])
    assert len(asked) > 20 and float(shown["loss"]) == pytest.approx(atoms + bonds, rel=1e-4)


def test_edges_without_a_code_for_hidden_are_refused():
    with pytest.raises(DataError, match="no code for a hidden edge") as caught:
        method(OWN, mask_edges=True)
    assert "atom_features=hu" in caught.value.hint


def test_neighbours_tell_more_than_how_common_an_element_is():
    store = hu_molecules()
    model, generator, rng = method(store, width=32, lr=0.01), noise(), np.random.default_rng(0)
    losses = [float(model.step(store.batch(rng.permutation(642)[:64]), generator)["loss"]) for _ in range(120)]
    shares = np.unique(store.x[:, 0], return_counts=True)[1] / store.num_nodes
    assert np.mean(losses[-20:]) < -(shares * np.log(shares)).sum() - 0.1
