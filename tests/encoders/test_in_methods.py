"""Every method trains with every encoder, also where graph rows are wider than node rows."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from adgcl.encoders.base import ENCODERS
from adgcl.methods.base import METHODS
from adgcl.training.run_config import resolve
from adgcl.training.trainer import build_method
from tests.encoder_cases import rich_case
from tests.graph_cases import random_store


@pytest.mark.parametrize("encoder", list(ENCODERS))
@pytest.mark.parametrize("method", [name for name in METHODS if not METHODS[name].needs_smiles])
def test_a_step_and_an_embedding(method, encoder):
    store = random_store(num_graphs=10, seed=4, **rich_case(encoder))
    run = resolve({"method": method, "encoder": {"name": encoder, "hidden_dim": 8, "num_layers": 2}})
    built = build_method(run, store.spec, store.task)
    batch = store.batch(np.arange(10))
    metrics = built.step(batch, torch.Generator().manual_seed(0))
    assert all(torch.isfinite(value) for value in metrics.values())
    rows = built.embed(batch)
    assert rows.shape == (10, built.width) and torch.isfinite(rows).all()
    if hasattr(built, "encoder"):
        assert built.width == built.encoder.graph_dim == built.encoder(batch).graph_emb.shape[1]
