"""Team: what a Trainer does together with the other processes of its run; alone, none of it costs anything."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

import torch

from adgcl.core.config import Tree
from adgcl.core.errors import CheckpointError, ConfigError
from adgcl.core.seeds import derived_seed
from adgcl.graphs.store.batch import GraphBatch
from adgcl.graphs.store.ranges import IntArray
from adgcl.graphs.store.share import share_of
from adgcl.graphs.store.store import GraphStore
from adgcl.methods.base import METHODS, Method, Metrics
from adgcl.parallel.collectives import average, average_statistics, sharing, summed, wait_for_all
from adgcl.parallel.world import ProcessLost, world
from adgcl.training.run_config import RunConfig


class Team:
    """The processes that train one method, each on its share of every batch.

    After each step all of them hold the same networks, optimisers and random states, so the checkpoint that the first
    one writes is that of all.
    """

    def __init__(self, config: RunConfig) -> None:
        self.world, self.config = world(), config
        self.alone, self.leads = self.world.size == 1, self.world.leads
        if not self.alone:
            self._check_method()

    def _check_method(self) -> None:
        kind, size = METHODS[self.config.method.name], self.world.size
        if not kind.parallel:
            able = ", ".join(sorted(name for name in METHODS if METHODS[name].parallel))
            raise ConfigError(
                f"{kind.title} cannot be trained by {size} processes together.",
                f"Run it without torchrun, or choose one of these: {able}.",
            )
        if self.config.training.batch_size < size:
            raise ConfigError(
                f"A batch of {self.config.training.batch_size} graphs cannot be divided among {size} processes.",
                f"Set --batch-size to {size} or more: it counts the graphs of all processes together.",
            )

    @property
    def facts(self) -> dict[str, int]:
        """What a checkpoint says about the processes."""
        return {} if self.alone else {"processes": self.world.size}

    def check_store(self, store: GraphStore) -> None:
        """Every process needs a graph in every step."""
        if len(store) < self.world.size:
            raise ConfigError(
                f"There are only {len(store)} graphs for {self.world.size} processes.", "Use fewer processes."
            )

    def check_resumed(self, data: Mapping[str, Any]) -> None:
        """A run continues with as many processes as it began with: any other number would round differently."""
        begun = data.get("processes", 1)
        if begun != self.world.size:
            raise CheckpointError(
                f"The run was started with {_processes(begun)}, and now there {_are(self.world.size)}.",
                f"Resume it with `{_START.format(begun) if begun != 1 else 'adgcl'} pretrain ...`, "
                "or choose another folder with --out.",
            )

    def agree(self, settings: Tree, data: Mapping[str, Any], position: Mapping[str, Any]) -> None:
        """Make sure that all processes are about to do the same, from the same checkpoint."""
        if self.alone:
            return
        described = {name: value for name, value in data.items() if name != "threads"}  # machines may differ in cores
        text = json.dumps([settings, described, position], sort_keys=True, default=str)
        number = int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big")
        mine = torch.zeros(self.world.size, dtype=torch.int64)
        mine[self.world.rank] = number
        if len(set(summed(mine).tolist())) > 1:
            with suppress(ProcessLost):  # Whoever ends first would cut off those that have yet to hear of it.
                wait_for_all()
            raise ConfigError(
                "The processes of this run differ in their settings, their data or the checkpoint they found.",
                "Give all of them the same command, the same data files, and a folder that every machine can see.",
            )

    def merges(self, rest: int) -> bool:
        """Whether the last graphs of an epoch are too few to give every process one."""
        return rest < self.world.size

    def batch(self, store: GraphStore, ids: IntArray, own: torch.Generator, place: tuple[int, int]) -> GraphBatch:
        """This process's share of a batch; `own` starts anew at every `place`, so it need not be saved."""
        if self.alone:
            return store.batch(ids)
        rank, size = self.world.rank, self.world.size
        own.manual_seed(derived_seed(self.config.training.seed, "own", *place, rank))
        mine, share = share_of(store, ids, rank, size, own)
        return replace(store.batch(mine), share=share)

    @contextmanager
    def step(self, method: Method) -> Iterator[None]:
        """A step that all processes take together."""
        training = self.config.training
        with sharing(training.negatives == "all", training.norm_statistics == "all"):
            yield
            average_statistics(method)

    def metrics(self, metrics: Metrics) -> Metrics:
        """What the whole batch gave, from what each process measured on its share."""
        if self.alone or not metrics:
            return metrics
        with sharing():
            return dict(zip(metrics, average(torch.stack(list(metrics.values()))).unbind(), strict=True))

    def any(self, mine: bool) -> bool:
        """Whether it is true in any process."""
        return mine if self.alone else bool(summed(torch.tensor(int(mine))))


@contextmanager
def one_first() -> Iterator[None]:
    """On every machine one process goes first, and leaves behind what the others then only have to open."""
    first = world().local_rank == 0
    if not first:
        wait_for_all()
    yield
    if first:
        wait_for_all()


_START = "torchrun --nproc-per-node {} -m adgcl"


def _processes(count: Any) -> str:
    return "one process" if count == 1 else f"{count} processes"


def _are(count: int) -> str:
    return "is one" if count == 1 else f"are {count}"
