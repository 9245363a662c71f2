"""Compiled loops, where torch has no kernel or only a chain of slow ones.

At the paper's width (32) a torch call takes as long as the arithmetic it starts. A loop compiled by Numba does in one
pass what takes torch five. A call takes two microseconds, because it passes addresses instead of arrays, each of which
would cost as much as the whole call. The machine code is cached on disk: only the first run on a machine compiles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numba
import torch
from numba import types
from numba.core import event
from numba.extending import intrinsic
from torch import Tensor

from adgcl.graphs.kernels.code_cache import current_code

# Rows are summed in blocks of this size: a single long sum in 32 bits would lose digits.
RUN = 128


def compiled(loop: Callable[..., None]) -> Callable[..., None]:
    """Compile a loop. It may reorder and fuse sums, but keeps NaN and infinity, which reveal failures."""
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": {"contract", "reassoc", "nsz"}}
    try:
        with current_code():
            kernel: Callable[..., None] = numba.njit(cache=True, **options)(loop)
    except RuntimeError:
        # No folder is writable: every process compiles again.
        kernel = numba.njit(**options)(loop)
    return kernel


class _Tells(event.Listener):
    """Tells that a loop is being compiled."""

    def __init__(self, tell: Callable[[], object]) -> None:
        self.tell = tell

    def on_start(self, event: Any) -> None:
        self.tell()

    def on_end(self, event: Any) -> None:
        pass


@contextmanager
def on_compiling(tell: Callable[[], object]) -> Iterator[None]:
    """Call `tell` whenever a loop is compiled because it is not in the cache."""
    with event.install_listener("numba:compile", _Tells(tell)):
        yield


def compiles(*tensors: Tensor | None) -> bool:
    """Whether compiled loops can work on these: 32-bit numbers in main memory."""
    return all(t is None or (t.dtype is torch.float32 and t.device.type == "cpu") for t in tensors)


def addresses(*tensors: Tensor | None) -> tuple[int, ...]:
    """The memory addresses of contiguous tensors; 0 for None."""
    return tuple(0 if tensor is None else tensor.data_ptr() for tensor in tensors)


def _pointer_to(item: Any) -> Any:
    def pointer(typing_context: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            return builder.inttoptr(values[0], context.get_value_type(signature.return_type))

        return types.CPointer(item)(types.int64), generate

    return intrinsic(pointer)


_to_floats, _to_doubles, _to_ints = (_pointer_to(item) for item in (types.float32, types.float64, types.int64))


def callable_in_loops(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that compiled loops call; it becomes part of them.

    Without `forceinline`, LLVM leaves some as calls, and which of several copies answers depends on what the process
    has compiled or loaded before. Copies round differently: the first run on a machine would differ from the next.
    """
    part: Callable[..., Any] = numba.njit(forceinline=True)(function)
    return part


@callable_in_loops
def floats(address: int, shape: Any) -> Any:
    """In a compiled loop: the 32-bit floats at `Tensor.data_ptr()`."""
    return numba.carray(_to_floats(address), shape)


@callable_in_loops
def doubles(address: int, shape: Any) -> Any:
    """In a compiled loop: the 64-bit floats at `Tensor.data_ptr()`."""
    return numba.carray(_to_doubles(address), shape)


@callable_in_loops
def ints(address: int, shape: Any) -> Any:
    """In a compiled loop: the 64-bit integers at `Tensor.data_ptr()`."""
    return numba.carray(_to_ints(address), shape)
