"""Precision: which products are computed in 16 bits."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode


def wide_products(device: torch.device) -> AbstractContextManager[object]:
    """A context without 16-bit products; free where there are none to begin with."""
    kind = device.type
    return torch.autocast(kind, enabled=False) if torch.is_autocast_enabled(kind) else nullcontext()


def half_products(device: torch.device) -> AbstractContextManager[object]:
    """A context in which dense layers compute in bfloat16.

    torch takes ten times as long as in 32 bits on a processor that has no instructions for it. There, factors and
    results are rounded as bfloat16 has them and multiplied in 32 bits: the same numbers, at the speed of float32.
    """
    if device.type == "cpu" and not has_half_products():
        return RoundedProducts()
    return torch.autocast(device.type, dtype=torch.bfloat16)


@cache
def has_half_products() -> bool:
    """Whether this processor multiplies bfloat16."""
    return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())


class RoundedProducts(TorchFunctionMode):
    """Dense layers in 32 bits, what goes in and comes out rounded to 16: forward, and in the backward pass too."""

    def __torch_function__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        if func is not F.linear:
            return func(*args, **(kwargs or {}))
        inputs, weight, *bias = args
        return _rounded(func(_rounded(inputs), _rounded(weight), *bias, **(kwargs or {})))


def _rounded(x: Tensor) -> Tensor:
    """The nearest bfloat16 as a float32; its gradient is rounded in the same way."""
    return x.bfloat16().float()
