"""Learnable augmentations learn where a graph's information is: what says nothing is not worth its price."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from adgcl.core.schema import Features, FeatureSpec, Task
from adgcl.graphs.store.store import pack
from adgcl.training.run_config import resolve
from adgcl.training.trainer import build_method

SIDE = 6  # nodes of either half


def half_redundant_store(num_graphs: int = 16):
    """Each graph is the same path, which tells nothing, tied to random edges on randomly coloured nodes, which do."""
    rng = np.random.default_rng(0)
    path = np.stack([np.arange(SIDE - 1), np.arange(1, SIDE)])
    edges, codes = [], []
    for _ in range(num_graphs):
        tree = np.stack([np.arange(1, SIDE), [rng.integers(0, i) for i in range(1, SIDE)]])
        extra = np.stack([rng.choice(SIDE, 2, replace=False) for _ in range(3)], 1)
        one_way = np.concatenate([path, [[0], [SIDE]], tree + SIDE, extra + SIDE], 1)
        edges.append(np.concatenate([one_way, one_way[::-1]], 1))
        codes.append(np.r_[np.zeros(SIDE, int), rng.integers(1, 4, SIDE)])
    counts = [e.shape[1] for e in edges]
    return pack(
        [2 * SIDE] * num_graphs, counts, np.concatenate(edges, 1), x=np.concatenate(codes)[:, None],
        spec=FeatureSpec(Features((4,))), task=Task("multiclass", num_classes=2),
    )  # fmt: skip


STORE = half_redundant_store()
BATCH = STORE.batch(np.arange(16))


def trained(name: str):
    run = resolve(
        {
            "method": {"name": "adgcl", "augmentations": [name], "reg_lambda": 1.0, "augmenter_lr": 0.01},
            "encoder": {"hidden_dim": 16, "num_layers": 2},
            "training": {"device": "cpu"},
        }
    )
    method, generator = build_method(run, STORE.spec, STORE.task), torch.Generator().manual_seed(0)
    for _ in range(80):
        method.step(BATCH, generator)
    return method.augmenter.eval()


@torch.no_grad()
@pytest.mark.parametrize("name", ["node_drop", "feature_mask", "edge_drop"])
def test_what_is_the_same_in_every_graph_is_kept_and_what_differs_is_dropped(name):
    with torch.enable_grad():
        augmenter = trained(name)
    telling = BATCH.x[:, 0] > 0
    if name == "edge_drop":
        logits, telling = augmenter.edge_logits(BATCH), telling[BATCH.target]
    else:
        logits = augmenter.node_logits(augmenter.node_emb(BATCH))
    assert logits[~telling].mean() > logits[telling].mean() + 4
    dropped = (logits < 0).float()
    assert dropped[telling].mean() > dropped[~telling].mean() + 0.3
