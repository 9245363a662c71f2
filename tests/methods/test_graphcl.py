"""GraphCL's step against its loss written out, term by term."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from adgcl.augmentations.random_base import RandomConfig
from adgcl.augmentations.random_choice import RandomChoice
from adgcl.graphs.store.view import View
from adgcl.training.run_config import resolve
from adgcl.training.trainer import build_method
from tests.graph_cases import random_store

STORE = random_store(num_graphs=10, seed=9)
BATCH = STORE.batch(np.arange(10))


def method(**settings):
    config = resolve({"method": {"name": "graphcl", **settings}, "encoder": {"hidden_dim": 6, "num_layers": 2}})
    return build_method(config, STORE.spec, STORE.task)


def plain_loss(z: torch.Tensor, z_view: torch.Tensor, temperature: float) -> float:
    """`-mean log( exp(cos_ii / T) / sum over j != i of exp(cos_ij / T) )`: a graph against other graphs' Views."""
    total = 0.0
    for i, row in enumerate(z):
        sims = [math.exp(float(torch.cosine_similarity(row, other, dim=0)) / temperature) for other in z_view]
        total -= math.log(sims[i] / (sum(sims) - sims[i])) / len(z)
    return total


@pytest.mark.parametrize("views", ["one", "two"])
def test_the_step_descends_the_plain_formula(views):
    settings = {"pool": ["random_node_drop", "random_edge_perturb"], "ratio": 0.4, "temperature": 0.5, "views": views}
    model = method(**settings)
    state = {k: v.clone() for k, v in model.state_dict().items()}
    shown = model.step(BATCH, torch.Generator().manual_seed(3))
    model.load_state_dict(state)
    model.train()
    # The same Views, through the weights of the whole batch: no node is really taken out.
    noise = torch.Generator().manual_seed(3)
    pool = RandomChoice(model.config.pool, RandomConfig(ratio=0.4))
    view = pool(BATCH, noise).view
    other = View() if views == "one" else pool(BATCH, noise).view
    z, z_view = (model.head(model.encoder(BATCH, v).graph_emb).detach() for v in (other, view))
    assert float(shown["loss"]) == pytest.approx(plain_loss(z, z_view, 0.5), rel=1e-4)


def test_the_pool_decides_what_happens():
    ratios = {
        name: float(method(pool=[name], ratio=0.5).step(BATCH, torch.Generator().manual_seed(0))["drop_ratio"])
        for name in ("identity", "random_feature_mask", "random_edge_drop", "random_node_drop")
    }
    assert ratios["identity"] == ratios["random_feature_mask"] == 0
    assert 0 < ratios["random_edge_drop"] <= 0.5 < ratios["random_node_drop"]


def test_masked_features_train_the_mask():
    model = method(pool=["random_feature_mask"], ratio=0.5)
    before = model.encoder.inputs.mask.detach().clone()
    model.step(BATCH, torch.Generator().manual_seed(0))
    assert not torch.equal(model.encoder.inputs.mask, before)
