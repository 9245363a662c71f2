"""Gates: random keep weights that gradients can pass through (relaxed Bernoulli, Eq. 7 of the paper)."""

from __future__ import annotations

import torch
from torch import Tensor

# Noise is drawn from (MARGIN, 1 - MARGIN), so that its logit stays finite.
MARGIN = 1e-4


def logistic_noise(count: int, generator: torch.Generator) -> Tensor:
    """`log u - log(1 - u)` for uniform `u`: one number per gate."""
    uniform = torch.rand(count, generator=generator, device=generator.device)
    return torch.logit(uniform.mul_(1 - 2 * MARGIN).add_(MARGIN))


def relaxed_bernoulli(logits: Tensor, noise: Tensor, temperature: float = 1.0, hard: bool = False) -> Tensor:
    """`sigmoid((noise + logits) / temperature)`: near 0 or 1 as the temperature falls.

    `hard` rounds the weight and passes the soft weight's gradient straight through.
    """
    soft = torch.sigmoid((logits + noise) / temperature)
    return soft + ((soft > 0.5).to(soft.dtype) - soft).detach() if hard else soft
