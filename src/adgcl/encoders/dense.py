"""Dense maps of wide layers, in the way that is fastest on this machine.

In 32 bits torch multiplies with MKL, which does not suit AMD's processors. On older ones the OpenBLAS that NumPy brings
along is up to a tenth faster. On those with 512-bit vectors (Zen 5) oneDNN is twice as fast as either
(`python -m benchmarks.limits` measures some). In 16 bits torch uses oneDNN as well; results become 32-bit numbers
at once, because our own loops for what follows are faster than torch's for 16 bits. The choice depends only on the
machine, never on a measurement, so the same run gives the same numbers.
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

from adgcl.core.provenance import amd_family
from adgcl.encoders.relu_loops import add_and_clip, mask_and_sum
from adgcl.encoders.round_products import PRODUCT, RoundLinear, RoundMLP, available
from adgcl.graphs.kernels.compiled import compiles
from adgcl.graphs.kernels.precision import has_half_products, keep_few_compiled

# The first family of AMD's processors whose vectors of 512 bits are computed in one piece.
_ZEN_5 = 26


class Dense(nn.Linear):
    """`nn.Linear` for many rows."""

    def forward(self, x: Tensor) -> Tensor:
        return linear(x, self.weight, self.bias)


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`x weight^T + bias`, like `F.linear`."""
    out: Tensor
    dtype = _round_dtype(x, weight)
    if dtype is not None:
        out = RoundLinear.apply(x, weight, bias, False, dtype)
        return out
    if not (_left_to_numpy() and _on_one_thread(x, weight)):
        return F.linear(x, weight, bias)
    out = _Product.apply(x, weight)
    return out if bias is None else out + bias


def relu_linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`relu(x weight^T + bias)`."""
    out: Tensor
    dtype = _round_dtype(x, weight)
    if dtype is not None:
        out = RoundLinear.apply(x, weight, bias, True, dtype)
        return out
    if not _on_one_thread(x, weight):
        return F.linear(x, weight, bias).relu()
    out = _ReluProduct.apply(x, weight, bias)
    return out


def mlp(x: Tensor, first: Dense, second: Dense) -> Tensor:
    """`second(relu(first(x)))`."""
    dtype = _round_dtype(x, first.weight)
    if dtype is not None:
        out: Tensor = RoundMLP.apply(x, first.weight, first.bias, second.weight, second.bias, dtype)
        return out
    return linear(relu_linear(x, first.weight, first.bias), second.weight, second.bias)


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


class _ReluProduct(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        out = _product(x, weight.t())
        if bias is None:
            out.relu_()
        else:
            add_and_clip(out, bias, out)
        ctx.save_for_backward(x, weight, out)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        x, weight, out = ctx.saved_tensors
        inner = torch.empty_like(out)
        total = mask_and_sum(grad.contiguous(), out, inner)
        of_x, of_weight, of_bias = ctx.needs_input_grad
        return (
            _product(inner, weight) if of_x else None,
            _product(inner.t(), x) if of_weight else None,
            total if of_bias else None,
        )


def _product(a: Tensor, b: Tensor) -> Tensor:
    """`a b` of 32-bit numbers in main memory, without gradient."""
    with record_function(PRODUCT) if torch.autograd._profiler_enabled() else nullcontext():
        if not _left_to_numpy():
            return a @ b
        out = torch.empty(len(a), b.shape[1])
        np.matmul(a.detach().numpy(), b.detach().numpy(), out=out.numpy())
        return out


def _round_dtype(x: Tensor, weight: Tensor) -> torch.dtype | None:
    """In which numbers oneDNN computes this map; None if it is not for it."""
    # Code that intercepts torch's functions, such as the emulation of bfloat16, must see F.linear.
    if has_torch_function((x, weight)) or x.device.type != "cpu" or x.dim() != 2:
        return None
    if torch.is_autocast_enabled("cpu"):
        halved = torch.get_autocast_dtype("cpu") is torch.bfloat16 and has_half_products()
        return torch.bfloat16 if halved else None
    if compiles(x, weight) and _left_to_onednn():
        keep_few_compiled()
        return torch.float32
    return None


def _on_one_thread(x: Tensor, weight: Tensor) -> bool:
    """Whether these are 32-bit numbers in main memory, on one thread: OpenBLAS's threads get in the way of torch's."""
    if has_torch_function((x, weight)) or not compiles(x, weight):
        return False
    return not torch.is_autocast_enabled("cpu") and torch.get_num_threads() == 1


@cache
def _left_to_numpy() -> bool:
    return torch.backends.mkl.is_available() and amd_family() is not None


@cache
def _left_to_onednn() -> bool:
    wide = torch.backends.cpu.get_cpu_capability() == "AVX512"
    return wide and available() and (amd_family() or 0) >= _ZEN_5
