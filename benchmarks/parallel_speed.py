"""Pre-training in two processes under torchrun against one process with one thread.

python -m benchmarks.parallel_speed STEPS     the work of each process: prints the seconds of a step
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator

import numpy as np
import torch

from benchmarks.timing import Measurement

_PRESET, _BATCH, _TARGET = "adgcl-transfer", 256, 1.7
_WARM_UP = 2


def measure(steps: int = 12, rounds: int = 3, processes: int = 2) -> Iterator[Measurement]:
    """AD-GCL on ZINC-250K in batches of 256, on Hu's GIN of width 300: molecules per second, in turns."""
    best = {1: float("inf"), processes: float("inf")}
    for _ in range(rounds):
        for count in best:
            best[count] = min(best[count], seconds_of_a_step(count, steps))
    alone, together = (_BATCH / seconds for seconds in best.values())
    name = f"parallel, {_PRESET}, hu_gin of width 300, batches of {_BATCH}, {processes} processes against one"
    yield Measurement(name, round(together / alone, 2), _TARGET, round(together, 1), round(alone, 1), "molecules/s")


def seconds_of_a_step(processes: int, steps: int) -> float:
    """The median step of a run by this many processes, one thread each."""
    launcher = ["-m", "torch.distributed.run", "--nproc-per-node", str(processes), "--standalone"]
    command = [sys.executable, *(launcher if processes > 1 else []), "-m", "benchmarks.parallel_speed", str(steps)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment)
    return float(json.loads(done.stdout)["seconds"])


def run(steps: int) -> None:
    """Train for some steps, together with other processes if there are any."""
    from adgcl.data.load import load_dataset
    from adgcl.experiments.presets import named_preset
    from adgcl.parallel.world import joined
    from adgcl.training.run_config import resolve
    from adgcl.training.trainer import Trainer

    settings = {**named_preset(_PRESET).settings}
    settings["training"] = {**settings["training"], "threads": 1, "device": "cpu"}
    with joined() as world:
        torch.set_num_threads(1)
        store = load_dataset("ZINC-250K", atom_features="hu").store
        trainer = Trainer(resolve(settings), store)
        order, times = np.random.default_rng(0).permutation(len(store)), []
        for number in range(_WARM_UP + steps):
            started = time.perf_counter()
            trainer._step(order[number * _BATCH : (number + 1) * _BATCH], 1)
            times.append(time.perf_counter() - started)
            trainer.position.step += 1
        if world.leads:
            print(json.dumps({"seconds": float(np.median(times[_WARM_UP:]))}))


if __name__ == "__main__":
    run(int(sys.argv[1]))
