"""World: the processes that `torchrun` started for one run, and how they end together."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import torch
from torch import distributed
from torch.distributed.rendezvous import rendezvous

from adgcl.core.errors import AdgclError, ConfigError
from adgcl.parallel.own_cores import own_cores

# What torchrun tells each process, and the field of World that it fills.
_TOLD = {"rank": "RANK", "size": "WORLD_SIZE", "local_rank": "LOCAL_RANK", "local_size": "LOCAL_WORLD_SIZE"}
# How long a process may wait for the others: the first to read new data may be at it for hours.
_PATIENCE = timedelta(hours=12)
# How long to wait for the others to start.
_MEETING = timedelta(minutes=10)
# How long the process that holds the store waits for the others to end, in seconds.
_GRACE = 5.0


@dataclass(frozen=True)
class World:
    """One of `size` processes; `local_rank` and `local_size` count those on the same machine."""

    rank: int = 0
    size: int = 1
    local_rank: int = 0
    local_size: int = 1

    @property
    def leads(self) -> bool:
        """Whether this is the process that writes files and talks to the user."""
        return self.rank == 0


_alone = World()
_joined = _alone


def world() -> World:
    """The processes that this one has joined; a World of one if there are no others."""
    return _joined


class ProcessLost(AdgclError):
    """Another process of the run has ended, so this one cannot continue."""

    def __init__(self) -> None:
        super().__init__(
            "Another process of this run ended without a word: it was killed, or its machine was lost.",
            "Often memory ran out; a smaller --batch-size needs less. The same command with --resume continues.",
        )


def from_environment(environment: Mapping[str, str] = os.environ) -> World:
    """What torchrun says about this process; a World of one if it was started in the usual way."""
    if not all(name in environment for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")):
        return _alone
    try:
        found = World(**{field: int(environment.get(name, getattr(_alone, field))) for field, name in _TOLD.items()})
    except ValueError as error:
        raise ConfigError(f"RANK, WORLD_SIZE and the like should be numbers: {error}.", _START) from error
    if not 0 <= found.rank < found.size:
        raise ConfigError(f"The environment says that this is process {found.rank} of {found.size}.", _START)
    return found if found.size > 1 else _alone


_START = "Start processes with `torchrun --nproc-per-node 2 -m adgcl pretrain ...`."


@contextmanager
def joined() -> Iterator[World]:
    """Join the other processes that torchrun started, if any. An error in one ends all, and only one tells it."""
    global _joined
    found = from_environment()
    if found.size == 1:
        yield found
        return
    store = _meet(found)
    with own_cores(distributed.PrefixStore("cores", store), found.rank, found.local_rank, found.local_size):
        _connect(found, store)
        _joined = found
        try:
            yield found
            _part()
        except BaseException as error:
            told = distributed.PrefixStore("adgcl", store)
            first = _is_first(told)
            _leave(told)
            if found.leads and os.environ.get("TORCHELASTIC_USE_AGENT_STORE") != "True":
                _outlast(told, found.size)
            if not first:
                raise SystemExit(1) from error
            _finish_sentence()
            raise
        finally:
            _joined = _alone


def _meet(found: World) -> Any:
    """Find the others; returns the store that all of them can read."""
    try:
        store, _, _ = next(rendezvous("env://", found.rank, found.size, timeout=_MEETING))
    except (RuntimeError, ValueError) as error:
        raise _unreachable(found, error) from error
    return store


def _connect(found: World, store: Any) -> None:
    """Join the group of all processes; its threads keep to the cores of this one."""
    kinds = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
    try:
        distributed.init_process_group(
            kinds, store=store, rank=found.rank, world_size=found.size, timeout=_PATIENCE
        )  # fmt: skip
    except (RuntimeError, ValueError) as error:
        raise _unreachable(found, error) from error


def _unreachable(found: World, error: Exception) -> ConfigError:
    return ConfigError(f"Process {found.rank} could not reach the others: {error}.", _START)


def _part() -> None:
    """Leave once all are done: the store may live in one of the processes."""
    with suppress(RuntimeError):  # Whoever is gone by now was done as well.
        distributed.all_reduce(torch.zeros(()))
    distributed.destroy_process_group()


def _is_first(store: Any) -> bool:
    """Whether no other process has told what went wrong."""
    try:
        return bool(store.add("told", 1) == 1)
    except RuntimeError:
        return True  # The store went down with the process that held it.


def _leave(store: Any) -> None:
    """Part after an error, so that the others notice; a group that is left to the exit of Python may abort there."""
    with suppress(RuntimeError):
        distributed.destroy_process_group()
        store.add("left", 1)


def _outlast(store: Any, size: int) -> None:
    """Where the store lives in this process, and not in torchrun's, end after the others have left."""
    limit = time.monotonic() + _GRACE
    while store.add("left", 0) < size and time.monotonic() < limit:
        time.sleep(0.05)


def _finish_sentence() -> None:
    """Ignore SIGTERM, which torchrun sends to all as soon as one has ended, until the error is on the screen."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
