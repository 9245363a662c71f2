"""Dense products of wide layers, by whichever library is fastest on this machine.

torch multiplies with MKL, which on AMD processors is slower than the OpenBLAS that NumPy brings along: by up to a tenth
at GINE's shapes, where products are most of a step (`python -m benchmarks.limits` measures some). The choice depends
only on the machine, never on a measurement, so the same run gives the same numbers.
"""

from __future__ import annotations

from contextlib import nullcontext
from functools import cache
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.autograd.profiler import record_function
from torch.nn import functional as F
from torch.overrides import has_torch_function

from adgcl.core.provenance import machine

# The profiler's name for a product that torch does not see.
PRODUCT = "adgcl::product"


class Dense(nn.Linear):
    """`nn.Linear` for many rows."""

    def forward(self, x: Tensor) -> Tensor:
        return linear(x, self.weight, self.bias)


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`x weight^T + bias`, like `F.linear`."""
    # Code that intercepts torch's functions, such as the emulation of bfloat16, must see this one too.
    if has_torch_function((x, weight)) or not (_left_to_numpy() and _plain(x, weight)):
        return F.linear(x, weight, bias)
    out: Tensor = _Product.apply(x, weight)
    return out if bias is None else out + bias


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor) -> Tensor:
        ctx.save_for_backward(x, weight)
        return _product(x, weight.t())

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, Tensor | None]:
        x, weight = ctx.saved_tensors
        of_x = _product(grad, weight) if ctx.needs_input_grad[0] else None
        of_weight = _product(grad.t(), x) if ctx.needs_input_grad[1] else None
        return of_x, of_weight


def _product(a: Tensor, b: Tensor) -> Tensor:
    with record_function(PRODUCT) if torch.autograd._profiler_enabled() else nullcontext():
        out = torch.empty(len(a), b.shape[1])
        np.matmul(a.detach().numpy(), b.detach().numpy(), out=out.numpy())
        return out


@cache
def _left_to_numpy() -> bool:
    return torch.backends.mkl.is_available() and "AMD" in str(machine()["processor"])


def _plain(x: Tensor, weight: Tensor) -> bool:
    """Whether these are 32-bit numbers in main memory, on one thread: OpenBLAS's threads get in the way of torch's."""
    kinds = x.dtype is weight.dtype is torch.float32 and x.device.type == weight.device.type == "cpu"
    return kinds and not torch.is_autocast_enabled("cpu") and torch.get_num_threads() == 1
