"""Precision: which products are computed in 16 bits."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

EMULATE = "ADGCL_EMULATE_BFLOAT16"
# How many products torch's two caches keep compiled, each for one number of rows. Batches rarely have the same number
# twice, so that the usual 1,024 only fill the memory, and pin it in so many places that the rest cannot be used again:
# two hours on MOSES took 7.6 GB instead of 2.0.
_COMPILED_PRODUCTS = {"ONEDNN_PRIMITIVE_CACHE_CAPACITY": "64", "LRU_CACHE_CAPACITY": "64"}


def wide_products(device: torch.device) -> AbstractContextManager[object]:
    """A context without 16-bit products; free where there are none to begin with."""
    kind = device.type
    return torch.autocast(kind, enabled=False) if torch.is_autocast_enabled(kind) else nullcontext()


def half_products(device: torch.device) -> AbstractContextManager[object]:
    """A context in which dense layers compute in bfloat16, where the machine has instructions for it.

    Without them torch takes ten times as long as in 32 bits, so 32 bits are used. With EMULATE in the environment,
    factors and results are rounded to bfloat16 and multiplied in 32 bits: the same numbers, to measure their effect.
    """
    if device.type != "cpu":
        return torch.autocast(device.type, dtype=torch.bfloat16)
    if has_half_products():
        keep_few_compiled()
        return torch.autocast("cpu", dtype=torch.bfloat16)
    return RoundedProducts() if os.environ.get(EMULATE) else nullcontext()


@cache
def has_half_products() -> bool:
    """Whether this processor multiplies bfloat16."""
    return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())


@cache
def keep_few_compiled() -> None:
    """Limit torch's caches, which look at the environment when the first product is compiled."""
    for name, capacity in _COMPILED_PRODUCTS.items():
        os.environ.setdefault(name, capacity)


class RoundedProducts(TorchFunctionMode):
    """Dense layers in 32 bits with inputs and outputs rounded to 16, in the forward and backward pass."""

    def __torch_function__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        if func is not F.linear:
            return func(*args, **(kwargs or {}))
        inputs, weight, *bias = args
        return _rounded(func(_rounded(inputs), _rounded(weight), *bias, **(kwargs or {})))


def _rounded(x: Tensor) -> Tensor:
    """The nearest bfloat16 as a float32; its gradient is rounded in the same way."""
    return x.bfloat16().float()
