"""What processes exchange in a step of AD-GCL, and how long that takes on one machine.

torchrun --nproc-per-node 2 -m benchmarks.scale_exchange     prints what it found
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, distributed

_PRESET, _BATCH, _REPEATS = "adgcl-transfer", 256, 15
# Which exchange a function of the package makes.
_KINDS = {
    "average_gradients": "gradients",
    "with_negatives": "negatives",
    "_Gathered": "negatives",
    "shared_norm": "statistics",
    "_fast_backward": "statistics",
    "_plain_backward": "statistics",
}


def measure(sizes: tuple[int, ...] = (1, 2, 4)) -> dict[str, Any]:
    """Exchanges of a step and their time, for several numbers of processes on this machine."""
    return {str(size): _in_processes(size) for size in sizes}


def _in_processes(size: int) -> dict[str, Any]:
    launcher = ["-m", "torch.distributed.run", "--nproc-per-node", str(size), "--standalone"]
    command = [sys.executable, *(launcher if size > 1 else []), "-m", "benchmarks.scale_exchange"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment)
    facts: dict[str, Any] = json.loads(done.stdout)
    return facts


def run() -> None:
    """Count the exchanges of one step, then time each kind by itself."""
    from adgcl.augmentations.gates import logistic_noise
    from adgcl.data.load import load_dataset
    from adgcl.experiments.presets import named_preset
    from adgcl.parallel.collectives import average_gradients, sharing, summed, with_negatives
    from adgcl.parallel.world import joined
    from adgcl.training.run_config import resolve
    from adgcl.training.trainer import Trainer

    settings = {**named_preset(_PRESET).settings}
    # Every process has a whole batch of its own, as on a cluster, where machines are added to train on more at a time.
    with joined() as world:
        settings["training"] = {**settings["training"], "batch_size": 16 * world.size, "threads": 1, "device": "cpu"}
        store = load_dataset("ZINC-250K", atom_features="hu").store.select(np.arange(16 * world.size))
        trainer = Trainer(resolve(settings), store)
        with _counting() as counted:
            trainer._step(np.arange(len(store)), 1)
            trainer.team.any(False)
        players = {
            name: [p for group in optimizer.param_groups for p in group["params"]]
            for name, optimizer in trainer.method.optimizers.items()
        }
        rows = torch.randn(_BATCH, trainer.method.encoder.graph_dim)
        row = torch.zeros(1 + 4 * trainer.method.encoder.config.hidden_dim, dtype=torch.float64)
        works: dict[str, Callable[[], object]] = {
            **{name: lambda own=own: average_gradients(own) for name, own in players.items()},
            "negatives": lambda: with_negatives(rows),
            "statistics": lambda: summed(row) if world.size > 1 else None,
            "noise of 10,000 edges": lambda: logistic_noise(10_000, trainer.generator),
        }
        facts = {
            "exchanges": counted,
            "parameters": {name: sum(p.numel() for p in own) for name, own in players.items()},
            "row": rows.shape[1],
            "seconds": {},
        }
        with sharing():
            for name, work in works.items():
                facts["seconds"][name] = _median(work)
        if world.leads:
            print(json.dumps(facts))


def _median(work: Callable[[], object]) -> float:
    times = []
    for _ in range(_REPEATS):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return float(np.median(times))


class _counting:
    """Counts exchanges by kind while it is entered, and how many bytes each process puts in."""

    def __enter__(self) -> dict[str, list[int]]:
        self.counted: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        self.originals = distributed.all_reduce, distributed.all_gather
        distributed.all_reduce = lambda value: self._note(value) or self.originals[0](value)
        distributed.all_gather = lambda parts, value: self._note(value) or self.originals[1](parts, value)
        return self.counted

    def __exit__(self, *unused: object) -> None:
        distributed.all_reduce, distributed.all_gather = self.originals

    def _note(self, value: Tensor) -> None:
        frame, kind = sys._getframe(1), ""
        while frame is not None and not kind:
            kind = _KINDS.get(frame.f_code.co_name) or _KINDS.get(frame.f_code.co_qualname.split(".")[0], "")
            frame = frame.f_back  # type: ignore[assignment]
        counts = self.counted[kind or "other"]
        counts[0] += 1
        counts[1] += value.numel() * value.element_size()


if __name__ == "__main__":
    run()
