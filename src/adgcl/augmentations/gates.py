"""Gates: random keep weights that gradients can pass through (relaxed Bernoulli, Eq. 7 of the paper)."""

from __future__ import annotations

import torch
from pydantic import Field
from torch import Tensor

from adgcl.core.config import Config

# Noise is drawn from (MARGIN, 1 - MARGIN), so that its logit stays finite.
MARGIN = 1e-4


class GateConfig(Config):
    """How keep weights are drawn from logits, and how wide the network behind the logits is."""

    temperature: float = Field(1.0, gt=0.0, le=10.0, description="softness of the keep weights; the authors fix 1")
    hard: bool = Field(False, description="round weights to 0 or 1, with straight-through gradients")
    tied: bool = Field(False, description="keep or drop both directions of an edge together")
    mlp_dim: int = Field(64, ge=1, description="width of the network that scores an edge or a node")
    candidates: float = Field(
        0.5, gt=0.0, le=10.0, description="new edges that edge_add may choose from, as a share of a graph's edges"
    )


def logistic_noise(count: int, generator: torch.Generator) -> Tensor:
    """`log u - log(1 - u)` for uniform `u`: one number per gate."""
    uniform = torch.empty(count, device=generator.device).uniform_(MARGIN, 1 - MARGIN, generator=generator)
    return torch.logit(uniform)


def relaxed_bernoulli(logits: Tensor, noise: Tensor, temperature: float = 1.0, hard: bool = False) -> Tensor:
    """`sigmoid((noise + logits) / temperature)`: near 0 or 1 as the temperature falls.

    `hard` rounds the weight and passes the soft weight's gradient straight through.
    """
    total = logits + noise
    soft = torch.sigmoid(total if temperature == 1.0 else total / temperature)
    return rounded(soft) if hard else soft


def rounded(soft: Tensor) -> Tensor:
    """0 or 1, with the gradient of `soft`."""
    return soft + ((soft > 0.5).to(soft.dtype) - soft).detach()
