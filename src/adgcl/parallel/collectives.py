"""What the processes of a run compute together during a step; for a single process each function is the identity.

Every process computes its part of a loss, such that the loss of the whole batch is the *mean* of all parts. Metrics and
gradients are therefore averaged over processes, and what has to be a sum over all of them is summed in here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor, distributed, nn
from torch.autograd.function import once_differentiable

from adgcl.parallel.world import ProcessLost, World, world


class _Sharing(NamedTuple):
    """What is shared between processes in the step that is running."""

    world: World
    negatives: bool
    statistics: bool


_now: _Sharing | None = None
# Up to so many bytes time goes into rounds of messages: gathering, in one, is faster than adding up, in two.
_ONE_ROUND = 1 << 15


@contextmanager
def sharing(negatives: bool = True, statistics: bool = True) -> Iterator[None]:
    """A step that all processes take together; outside of one, nothing waits for other processes."""
    global _now
    _now = _Sharing(world(), negatives, statistics) if world().size > 1 else None
    try:
        yield
    finally:
        _now = None


def shares_statistics() -> bool:
    """Whether batch normalisation uses the rows of all processes."""
    return _now is not None and _now.statistics


def shares_negatives() -> bool:
    """Whether a contrastive loss compares with the graphs of all processes."""
    return _now is not None and _now.negatives


@torch.no_grad()
def average(value: Tensor) -> Tensor:
    """The mean over processes, without gradient."""
    return value.detach() if _now is None else summed(value.detach().float()) / _now.world.size


def average_count(count: int) -> float:
    """How many items a process has on average."""
    if _now is None:
        return count
    return float(summed(torch.tensor(float(count), dtype=torch.float64))) / _now.world.size


def part_of_mean(mean: Tensor, count: int) -> Tensor:
    """The mean over this process's `count` items as its part of the mean over those of all processes."""
    return mean if _now is None else mean * (count / average_count(count))


def anywhere(mask: Tensor) -> Tensor:
    """Where `mask` is true in any process."""
    return mask if _now is None else summed(mask.float()) > 0


def summed(value: Tensor) -> Tensor:
    """The sum over processes, without gradient."""
    return _sum_up(value.clone(memory_format=torch.contiguous_format))


def _sum_up(value: Tensor) -> Tensor:
    """The same in place."""
    with _heard():
        if value.device.type != "cpu" or value.numel() * value.element_size() > _ONE_ROUND:
            distributed.all_reduce(value)
            return value
        mine = value.reshape(-1)
        parts = [torch.empty_like(mine) for _ in range(world().size)]
        distributed.all_gather(parts, mine)
    # All add up in the same order, so that all get the same sum.
    return value.copy_(torch.stack(parts).sum(0).view_as(value))


def wait_for_all() -> None:
    """Wait until all processes have come this far."""
    if world().size > 1:
        summed(torch.zeros(()))


class Negatives(NamedTuple):
    """Rows to compare with: those of all processes, and at which of them this process's own begin."""

    rows: Tensor
    first: int


def with_negatives(rows: Tensor) -> Negatives:
    """The rows of all processes, with gradient, or this process's own if negatives are not shared."""
    if _now is None or not _now.negatives:
        return Negatives(rows, 0)
    counts = torch.zeros(_now.world.size, dtype=torch.int64)
    counts[_now.world.rank] = len(rows)
    sizes = summed(counts).tolist()
    gathered: Tensor = _Gathered.apply(rows, sizes, _now.world.rank)
    return Negatives(gathered, sum(sizes[: _now.world.rank]))


class _Gathered(torch.autograd.Function):
    """The rows of all processes, one after another; each process's rows get the gradients of all."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, sizes: list[int], rank: int) -> Tensor:
        ctx.sizes, ctx.rank = sizes, rank
        # Collectives take equal sizes: shorter parts are filled up.
        padded = rows.new_zeros(max(sizes), rows.shape[1])
        padded[: len(rows)] = rows
        parts = [torch.empty_like(padded) for _ in sizes]
        with _heard():
            distributed.all_gather(parts, padded)
        return torch.cat([part[:size] for part, size in zip(parts, sizes, strict=True)])

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        return summed(grad).split(ctx.sizes)[ctx.rank], None, None


@torch.no_grad()
def average_gradients(parameters: Iterable[nn.Parameter]) -> None:
    """Give every process the mean of all gradients, as one message.

    A parameter that has a gradient in one process only, because the others' graphs did not use it, has one in all.
    """
    if _now is None:
        return
    every = list(parameters)
    # In main memory: to read it from a GPU would be to wait for all its work.
    used = summed(torch.tensor([p.grad is not None for p in every], dtype=torch.int32)).tolist()
    flat = [torch.zeros_like(p).flatten() if p.grad is None else p.grad.flatten() for p in every]
    means = _sum_up(torch.cat(flat)).div_(_now.world.size).split([p.numel() for p in every])
    for parameter, grad, users in zip(every, means, used, strict=True):
        parameter.grad = grad.view_as(parameter) if users else None


@torch.no_grad()
def average_statistics(module: nn.Module) -> None:
    """Give every process the mean of all running statistics: evaluation mode has to be the same everywhere."""
    if _now is None or _now.statistics:
        return
    norms = [part for part in module.modules() if isinstance(part, nn.BatchNorm1d)]
    running = [value for norm in norms for value in (norm.running_mean, norm.running_var) if value is not None]
    if running:
        means = average(torch.cat(running)).split([len(value) for value in running])
        for value, mean in zip(running, means, strict=True):
            value.data.copy_(mean)


@contextmanager
def _heard() -> Iterator[None]:
    """An exchange fails when another process has ended."""
    try:
        yield
    except RuntimeError as error:
        raise ProcessLost from error
