"""Scaled cosine error: how far a row points away from the category it should name (GraphMAE, Hou et al. 2022)."""

from __future__ import annotations

import torch
from torch import Tensor

from adgcl.parallel.collectives import part_of_mean

# Rows shorter than this have no direction; their cosine with anything is 0.
_SHORTEST = 1e-12


def cosine_error(z: Tensor, code: Tensor, gamma: float = 1.0) -> Tensor:
    """`mean over i of (1 - cos(z_i, one_hot(code_i)))^gamma`, between 0 and `2^gamma`.

    The cosine with a one-hot row is one entry over the length: `z_i[code_i] / |z_i|`.
    """
    z = z if z.dtype is torch.float64 else z.float()
    length = z.norm(dim=1).clamp(min=_SHORTEST)
    error = 1.0 - z.gather(1, code.unsqueeze(1)).squeeze(1) / length
    # Rounding may leave an error just below 0, whose power is not a number.
    return part_of_mean((error if gamma == 1 else error.clamp(min=0.0).pow(gamma)).mean(), len(error))
