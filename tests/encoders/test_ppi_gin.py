"""The GIN for protein interactions against the published formula, written out edge by edge."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from adgcl.core.errors import ConfigError
from adgcl.core.schema import FeatureSpec
from adgcl.encoders.base import EncoderConfig, make_encoder
from adgcl.encoders.ppi_gin import PPIGIN, PPIGINConfig
from adgcl.graphs.store.store import pack
from adgcl.graphs.store.view import View
from tests.graph_cases import random_store

PPI = {"node_sizes": (2,), "edge_sizes": (2,) * 9}


def ppi_gin(spec, **settings) -> PPIGIN:
    torch.manual_seed(3)
    return make_encoder(PPIGINConfig(**{"hidden_dim": 8, "num_layers": 3, **settings}), spec)


def slow(model: PPIGIN, batch, keep):
    """Node rows: every message is a row of memory, its node half beside its edge half."""
    h = model.inputs.table[torch.zeros(batch.num_nodes, dtype=torch.long)]
    every = torch.arange(batch.num_nodes)
    source, target = torch.cat((batch.edge_index, torch.stack((every, every))), 1)
    loop = torch.zeros(batch.num_nodes, 9, dtype=h.dtype)
    loop[:, 7] = 1
    marks = torch.cat((batch.edge_attr.to(h.dtype), loop))
    weight = torch.cat((keep, torch.ones(batch.num_nodes, dtype=h.dtype)))
    for i, layer in enumerate(model.layers):
        message = torch.cat((h[source], layer.marks(marks)), 1) * weight[:, None]
        summed = torch.zeros(batch.num_nodes, message.shape[1], dtype=h.dtype).index_add(0, target, message)
        h = layer.second(torch.nn.BatchNorm1d.forward(layer.norm, layer.first(summed)).relu())
        h = h if i == len(model.layers) - 1 else h.relu()
    return h


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_it_is_the_published_formula_with_gradients(training, dtype, monkeypatch):
    store = random_store(num_graphs=30, seed=4, **PPI)
    batch = store.batch(np.arange(30))
    model = ppi_gin(store.spec).to(dtype)
    model(batch)
    model.train(training)
    start = {name: value.clone() for name, value in model.state_dict().items()}
    keep = torch.rand(batch.num_edges, dtype=dtype, requires_grad=True)
    inputs = [keep, *model.parameters()]
    results = []
    for way in (lambda: model(batch, View(edge_keep=keep)).node_emb, lambda: slow(model, batch, keep)):
        model.load_state_dict(start)
        rows = way()
        weight = torch.linspace(-1, 1, rows.numel(), dtype=dtype).view_as(rows)
        grads = torch.autograd.grad((rows * weight).mean(), inputs)
        results.append((rows.detach(), grads, dict(model.named_buffers())))
    tolerance = 1e-5 if dtype is torch.float32 else 1e-10
    torch.testing.assert_close(*results, rtol=tolerance, atol=tolerance)


def star(centre: int):
    """Four nodes, the second of which all others are joined to; `centre` is marked."""
    edges = np.array([[0, 2, 3, 1, 1, 1], [1, 1, 1, 0, 2, 3]])
    marks = np.zeros((6, 9), int)
    marks[:, 0] = 1
    x = (np.arange(4) == centre).astype(int)[:, None]
    return pack([4], [6], edges, x=x, edge_attr=marks, spec=random_store(**PPI).spec).batch([0])


def test_the_graph_row_is_the_mean_beside_the_centre():
    model = ppi_gin(random_store(**PPI).spec).eval()
    hub, leaf = model(star(1)), model(star(3))
    torch.testing.assert_close(hub.node_emb, leaf.node_emb)  # the mark is no feature
    for found, centre in ((hub, 1), (leaf, 3)):
        expected = torch.cat((found.node_emb.mean(0), found.node_emb[centre]))
        torch.testing.assert_close(found.graph_emb[0], expected)
    assert hub.graph_emb.shape == (1, model.graph_dim) == (1, 16)
    alone = ppi_gin(random_store(**PPI).spec, centre=False).eval()
    assert alone.graph_dim == alone.node_dim == 8
    torch.testing.assert_close(alone(star(1)).graph_emb[0], hub.node_emb.mean(0))


def test_a_centre_fades_with_its_weight():
    model = ppi_gin(random_store(**PPI).spec).eval()
    keep = torch.tensor([1.0, 0.25, 1.0, 1.0])
    found = model(star(1), View(node_keep=keep))
    torch.testing.assert_close(found.graph_emb[0, 8:], 0.25 * found.node_emb[1])


def test_a_graph_without_a_mark_has_zeros_in_place_of_a_centre():
    found = ppi_gin(random_store(**PPI).spec).eval()(star(9))
    assert not found.graph_emb[0, 8:].any() and found.graph_emb[0, :8].any()


def test_nodes_start_alike_and_masked_ones_differently():
    model = ppi_gin(random_store(**PPI).spec)
    assert len(torch.unique(model.inputs(star(1)), dim=0)) == 1
    assert len(torch.unique(model.inputs(star(1), torch.tensor([1.0, 0.0, 1.0, 0.5])), dim=0)) == 3


def test_defaults_are_the_published_ones():
    config = PPIGINConfig()
    assert (config.hidden_dim, config.num_layers, config.readout, config.layers) == (300, 5, "mean", "last")


@pytest.mark.parametrize("spec", [FeatureSpec(), random_store(node_sizes=(120, 4), edge_sizes=(6, 3)).spec])
def test_other_graphs_are_refused(spec):
    with pytest.raises(ConfigError, match="adgcl data info PPI"):
        make_encoder(EncoderConfig(name="ppi_gin"), spec)
