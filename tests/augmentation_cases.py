"""What the tests of learnable augmentations share: small ones, alone or mixed, and a batch for them."""

from __future__ import annotations

import numpy as np
import torch

from adgcl.augmentations.gates import GateConfig
from adgcl.augmentations.mixture import make_augmenter
from adgcl.encoders.base import EncoderConfig
from tests.graph_cases import random_store

STORE = random_store(seed=3, num_graphs=14, node_sizes=(4,))
BATCH = STORE.batch(np.arange(14))


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def augmenter(*names: str, **gate):
    torch.manual_seed(0)
    return make_augmenter(names, EncoderConfig(hidden_dim=8, num_layers=2), GateConfig(**gate), STORE.spec)


def pushed(model, logit: float):
    """The same augmenter with logits far from 0: `logit` added to every one."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith("score.bias"):
                parameter.fill_(logit)
    return model


def slow_mean(values, owner, num_graphs: int):
    """Mean over the items of each graph, then over graphs with any."""
    means = [values[owner == g].mean() for g in range(num_graphs) if (owner == g).any()]
    return torch.stack(means).mean() if means else torch.zeros(())
