"""Hu's GIN against the published formula, written out edge by edge in double precision."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from adgcl.core.errors import ConfigError
from adgcl.core.schema import Features, FeatureSpec
from adgcl.data.families.freesolv import load_freesolv
from adgcl.encoders.base import EncoderConfig, make_encoder
from adgcl.encoders.hu_gin import HuGIN, HuGINConfig
from adgcl.graphs.chem.atoms import feature_spec
from adgcl.graphs.chem.molecules import molecules_to_store
from adgcl.graphs.store.store import pack
from adgcl.graphs.store.view import View
from adgcl.training.run_config import resolve


@pytest.fixture(scope="module")
def molecules():
    return molecules_to_store(load_freesolv().smiles[:60], "hu", workers=1).store


def hu_gin(spec, **settings) -> HuGIN:
    torch.manual_seed(3)
    model = make_encoder(HuGINConfig(**{"hidden_dim": 12, "num_layers": 3, **settings}), spec)
    with torch.no_grad():
        for layer in model.layers:  # biases and scales that are not the initial ones
            layer.first.bias.normal_()
            layer.norm.weight.uniform_(0.5, 1.5)
    return model


def slow(model: HuGIN, batch, keep):
    """Node and graph rows: one row of memory for every message, self-loops among them."""
    atoms, chirality = model.inputs.codes.table.split(list(model.spec.node.sizes))
    h = atoms[batch.x[:, 0]] + chirality[batch.x[:, 1]]
    every = torch.arange(batch.num_nodes)
    source, target = torch.cat((batch.edge_index, torch.stack((every, every))), 1)
    kind = torch.cat((batch.edge_attr[:, 0], torch.full_like(every, 4)))
    direction = torch.cat((batch.edge_attr[:, 1], torch.zeros_like(every)))
    weight = torch.cat((keep, torch.ones(batch.num_nodes, dtype=h.dtype)))
    states = []
    for i, layer in enumerate(model.layers):
        message = h[source] + layer.bonds.kind[kind] + layer.bonds.direction[direction]
        message = message.relu() if model.config.message == "relu" else message
        summed = torch.zeros_like(h).index_add(0, target, message * weight[:, None])
        h = F.linear(F.linear(summed, layer.first.weight, layer.first.bias).relu(), layer.second.weight)
        norm = layer.norm
        h = F.batch_norm(
            h,
            norm.running_mean.clone(),
            norm.running_var.clone(),
            norm.weight,
            norm.bias,
            model.training,
            0.1,
            norm.eps,
        )
        h = h if i == len(model.layers) - 1 else h.relu()
        states.append(h)
    h = torch.cat(states, 1) if model.config.layers == "all" else h
    sums = torch.zeros(batch.num_graphs, h.shape[1], dtype=h.dtype).index_add(0, batch.batch, h)
    return h, sums / batch.node_counts[:, None]


def gradients(rows, model, keep):
    node_emb, graph_emb = rows
    weight = torch.linspace(-1, 1, node_emb.numel(), dtype=node_emb.dtype).view_as(node_emb)
    loss = (node_emb * weight).mean() + graph_emb.pow(2).mean()
    named = {"keep": keep, **{n: p for n, p in model.named_parameters() if n != "inputs.mask"}}
    return dict(zip(named, torch.autograd.grad(loss, list(named.values()), allow_unused=True)))


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("layers", ["last", "all"])
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("message", ["sum", "relu"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_it_is_the_published_formula_with_gradients(molecules, message, training, layers, weighted, dtype):
    """In 32 bits by compiled loops, in 64 by torch's kernels; both class by class where nodes are alike."""
    batch = molecules.batch(np.arange(60))
    model = hu_gin(molecules.spec, message=message, layers=layers)
    model(batch)  # running statistics that are not the initial ones
    plain = copy.deepcopy(model).double().train(training)
    model = model.to(dtype).train(training)
    generator = torch.Generator().manual_seed(0)
    keep = torch.rand(batch.num_edges, generator=generator, dtype=torch.float64)
    keep = (keep if weighted else torch.ones_like(keep)).requires_grad_()
    narrow = keep.detach().to(dtype).requires_grad_()
    expected = slow(plain, batch, keep)
    expected_grads = gradients(expected, plain, keep)
    found = tuple(model(batch, View(edge_keep=narrow) if weighted else None))
    found_grads = gradients(found, model, narrow)
    if not weighted:
        del expected_grads["keep"], found_grads["keep"]
    tolerance = 1e-5 if dtype is torch.float32 else 1e-10
    close(dict(enumerate(found)), dict(enumerate(expected)), tolerance)
    close(found_grads, expected_grads, tolerance)


def close(found, expected, tolerance):
    for name, theirs in expected.items():
        atol = tolerance * max(1.0, float(theirs.detach().abs().max()))
        assert torch.allclose(found[name].double(), theirs, rtol=tolerance, atol=atol), name


@pytest.mark.parametrize("message", ["sum", "relu"])
def test_like_atoms_are_computed_once_and_first_messages_mapped_once(molecules, message, monkeypatch):
    batch = molecules.batch(np.arange(60))
    model = hu_gin(molecules.spec, message=message)
    products: list[int] = []
    from adgcl.encoders import dense
    from adgcl.encoders import hu_gin as module

    def counting(function):
        def counted(x, *maps):
            before = len(products)
            out = function(x, *maps)
            products[before:] = [len(x)]
            return out

        return counted

    monkeypatch.setattr(module, "mlp", counting(dense.mlp))
    dense_linear = counting(dense.linear)
    monkeypatch.setattr(dense, "linear", dense_linear)
    monkeypatch.setattr(module, "linear", dense_linear)
    model(batch)
    # Two maps of the first layer, then both maps of a layer at once.
    mapped, first, *layers = products
    assert len(layers) == len(model.layers) - 1 and max(products) < batch.num_nodes and mapped < first / 2
    products.clear()
    model(batch, View(edge_keep=torch.rand(batch.num_edges)))
    mapped, *layers = products
    assert mapped < 80 and layers == [batch.num_nodes] * len(model.layers)


@pytest.mark.parametrize("training", [True, False])
def test_a_pair_is_two_passes(molecules, training):
    batch = molecules.batch(np.arange(60))
    one = hu_gin(molecules.spec, message="relu").train(training)
    other = copy.deepcopy(one)
    view = View(edge_keep=torch.rand(batch.num_edges))
    torch.testing.assert_close(one.pair(batch, view), (other(batch), other(batch, view)))
    torch.testing.assert_close(dict(one.named_buffers()), dict(other.named_buffers()))


def test_self_loops_are_never_dropped(molecules):
    """Without any edge every atom still hears itself, over a bond of its own type."""
    batch = molecules.batch([0])
    model = hu_gin(molecules.spec).eval()
    lonely = View(edge_keep=torch.zeros(batch.num_edges))
    before = model(batch, lonely).node_emb
    with torch.no_grad():
        model.layers[0].bonds.kind[4] += 1.0
    assert not torch.allclose(before, model(batch, lonely).node_emb)


def test_embeddings_start_as_published():
    """Every table by Xavier's rule: uniform within `sqrt(6 / (rows + columns))`."""
    model = HuGIN(HuGINConfig(), feature_spec("hu"))
    assert (len(model.layers), model.node_dim, model.config.readout) == (5, 300, "mean")
    tables = [*model.inputs.codes.table.split([120, 4])]
    tables += [table for layer in model.layers for table in (layer.bonds.kind, layer.bonds.direction)]
    for table in tables:
        bound = (6 / sum(table.shape)) ** 0.5
        assert 0.95 * bound < float(table.detach().abs().max()) <= bound


def test_dropout_comes_last(molecules):
    batch = molecules.batch(np.arange(60))
    model = hu_gin(molecules.spec, dropout=0.5, num_layers=1).train()
    zeros = (model(batch).node_emb == 0).float().mean()
    assert 0.4 < zeros < 0.6
    assert not (model.eval()(batch).node_emb == 0).any()


@pytest.mark.parametrize(
    "spec",
    [
        feature_spec("ogb"),
        FeatureSpec(),
        FeatureSpec(Features((120, 4)), Features((4, 3)), "no loop"),
        FeatureSpec(Features((120, 4), 1), Features((6, 3)), "reals"),
    ],
    ids=lambda spec: spec.name,
)
def test_other_features_are_refused_with_advice(spec):
    with pytest.raises(ConfigError, match=r"--set data\.atom_features=hu"):
        make_encoder(EncoderConfig(name="hu_gin"), spec)


def test_settings_say_how_messages_are_made():
    run = resolve({"encoder": {"name": "hu_gin"}}, ["encoder.message=relu"])
    assert run.encoder == HuGINConfig(message="relu") and run.encoder.hidden_dim == 300
    with pytest.raises(ConfigError, match="message"):
        resolve({"encoder": {"name": "hu_gin", "message": "max"}})
    with pytest.raises(ConfigError, match="message"):
        resolve({"encoder": {"name": "gine", "message": "relu"}})


def test_graphs_without_bonds_are_read():
    spec = feature_spec("hu")
    store = pack([1, 2], [0, 0], np.zeros((2, 0), int), x=np.array([[5, 0], [7, 0], [7, 0]]),
                 edge_attr=np.zeros((0, 2), int), spec=spec)  # fmt: skip
    rows = hu_gin(spec).eval()(store.batch([0, 1])).node_emb
    assert torch.equal(rows[1], rows[2]) and not torch.equal(rows[0], rows[1])
