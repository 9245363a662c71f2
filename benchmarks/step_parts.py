"""Where the time of a compiled step goes: the loops it calls, timed one by one, and the speed of their products."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

import numba
import torch

from adgcl.compiled import learner, networks, players
from adgcl.compiled.products import NONE, product

# The loops of each part, by the module that calls them.
PARTS: dict[str, tuple[tuple[Any, str], ...]] = {
    "layers forward": ((networks, "gin_forward"),),
    "layers backward": ((networks, "gin_backward"),),
    "edge scores": ((networks, "score_edges"), (networks, "score_edges_backward")),
    "head and loss": (
        (networks, "project"),
        (networks, "project_backward"),
        (learner, "contrast"),
        (learner, "contrast_backward"),
    ),
    "Adam": ((players, "_adam"),),
}
REST = "batch, noise, calls"


def shares(step: Callable[[], object], rounds: int) -> dict[str, float]:
    """The share of each part in the time of a step, per cent; the rest is outside of all loops."""
    spent = dict.fromkeys(PARTS, 0.0)
    step()
    with ExitStack() as timed:
        for part, loops in PARTS.items():
            for module, name in loops:
                timed.enter_context(_timed(module, name, part, spent))
        started = time.perf_counter()
        for _ in range(rounds):
            step()
        whole = time.perf_counter() - started
    spent[REST] = whole - sum(spent.values())
    return {part: 100 * seconds / whole for part, seconds in spent.items()}


@contextmanager
def _timed(module: Any, name: str, part: str, spent: dict[str, float]) -> Iterator[None]:
    loop = getattr(module, name)

    def call(*given: Any) -> Any:
        started = time.perf_counter()
        result = loop(*given)
        spent[part] += time.perf_counter() - started
        return result

    with mock.patch.object(module, name, call):
        yield


def product_rate(rows: int, width: int, rounds: int = 40) -> float:
    """Billions of operations per second of a compiled product of these sizes."""
    a, b, out = torch.randn(rows, width), torch.randn(width, width), torch.empty(rows, width)
    places = [tensor.data_ptr() for tensor in (a, b, out)]
    _product(*places, rows, width)
    best = float("inf")
    for _ in range(rounds):
        started = time.perf_counter()
        _product(*places, rows, width)
        best = min(best, time.perf_counter() - started)
    return 2e-9 * rows * width * width / best


@numba.njit  # type: ignore[untyped-decorator]
def _product(a: int, b: int, out: int, rows: int, width: int) -> None:
    product(a, b, out, rows, width, width, NONE, NONE, NONE)
