"""Dropout whose noise comes from the run's own generator, so that runs in parallel threads do not share it.

torch draws a number for every element, which at dropout 0.5 takes a tenth of a fine-tuning epoch. Here the generator
gives one number a call, and a hash of it and the position decides about each element, in the same pass that scales it.
The backward pass computes the hash again instead of keeping a mask.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from adgcl.graphs.kernels.compiled import compiled, compiles, floats

# The constants of SplitMix64 (Steele, Lea and Flood 2014).
_STEP, _FIRST, _SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_SHIFTS = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(32)


class Dropout(nn.Module):
    """`F.dropout` with its own generator; without one it draws from torch's global state."""

    def __init__(self, share: float) -> None:
        super().__init__()
        self.share = share
        self.generator: torch.Generator | None = None

    def forward(self, h: Tensor) -> Tensor:
        if not self.share or not self.training:
            return h
        if compiles(h) and self.share < 1:
            seed = int(torch.empty((), dtype=torch.int64).random_(generator=self.generator))
            dropped: Tensor = _Drop.apply(h, self.share, seed)
            return dropped
        keep = torch.empty_like(h).bernoulli_(1 - self.share, generator=self.generator)
        return h * keep.div_(1 - self.share)


def give_generator(module: nn.Module, generator: torch.Generator) -> None:
    """Let every Dropout below `module` draw from `generator`."""
    for part in module.modules():
        if isinstance(part, Dropout):
            part.generator = generator


class _Drop(Function):
    @staticmethod
    def forward(ctx: Any, h: Tensor, share: float, seed: int) -> Tensor:
        ctx.share, ctx.seed = share, seed
        return _dropped(h, share, seed)

    @staticmethod
    @once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        return _dropped(grad, ctx.share, ctx.seed), None, None


def _dropped(values: Tensor, share: float, seed: int) -> Tensor:
    values = values.contiguous()
    out = torch.empty_like(values)
    _drop(values.data_ptr(), out.data_ptr(), values.numel(), seed, round(share * 2**32), 1 / (1 - share))
    return out


@compiled
def _drop(values: int, out: int, count: int, seed: int, below: int, scale: float) -> None:
    """`scale * values`, or 0 where 32 bits hashed from the seed and the position are `below` a number."""
    before, after = floats(values, count), floats(out, count)
    start, limit, factor = np.uint64(seed), np.uint64(below), np.float32(scale)
    for i in range(count):
        z = start + np.uint64(i + 1) * _STEP
        z = (z ^ (z >> _SHIFTS[0])) * _FIRST
        z = (z ^ (z >> _SHIFTS[1])) * _SECOND
        z = z ^ (z >> _SHIFTS[2])
        after[i] = before[i] * factor if (z >> _SHIFTS[3]) >= limit else np.float32(0)
