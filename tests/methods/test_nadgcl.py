"""NAD-GCL drops what it says and compares in one direction."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from adgcl.core.errors import ConfigError
from adgcl.graphs.store.view import View
from adgcl.objectives.info_nce import info_nce
from adgcl.training.run_config import resolve
from adgcl.training.trainer import build_method
from tests.graph_cases import random_store

STORE = random_store(num_graphs=10, seed=9)
BATCH = STORE.batch(np.arange(10))


def method(**settings):
    config = resolve({"method": {"name": "nadgcl", **settings}, "encoder": {"hidden_dim": 6, "num_layers": 2}})
    return build_method(config, STORE.spec, STORE.task)


@pytest.mark.parametrize("ratio", [0.0, 0.3, 0.9])
def test_drop_ratio_is_that_of_whole_edges(ratio):
    shown = method(drop_ratio=ratio).step(BATCH, torch.Generator().manual_seed(0))
    shares = [int(ratio * n) / n for n in BATCH.edge_counts.tolist() if n]
    assert float(shown["drop_ratio"]) == pytest.approx(np.mean(shares), rel=1e-5, abs=1e-7)


def test_the_loss_has_one_direction():
    model = method(drop_ratio=0.4, temperature=0.3)
    state = {k: v.clone() for k, v in model.state_dict().items()}
    shown = model.step(BATCH, torch.Generator().manual_seed(3))
    model.load_state_dict(state)
    model.train()
    view = model.augmenter(BATCH, torch.Generator().manual_seed(3)).view
    z, z_view = (model.head(model.encoder(BATCH, v).graph_emb).detach() for v in (View(), view))
    assert float(shown["loss"]) == pytest.approx(float(info_nce(z, z_view, 0.3, "one")), rel=1e-4)
    assert float(shown["loss"]) != pytest.approx(float(info_nce(z_view, z, 0.3, "one")), rel=1e-3)


def test_nothing_can_be_left_over():
    with pytest.raises(ConfigError, match="drop_ratio"):
        method(drop_ratio=1.0)
