"""`python -m benchmarks.method_costs [--datasets NAME ...] [--write]`: an epoch of AD-GCL beside one of its rivals.

All methods get the same encoder, batches and features. An epoch is as many times the mean step as it has steps; steps
are timed in turns, in CPU time on one core. `--write` adds the rows to `costs.json` and generates `docs/costs.md`.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import Any

import numpy as np
import torch

from adgcl.core.files import write_json, write_text
from adgcl.core.provenance import machine
from adgcl.data.dataset import Dataset
from adgcl.data.load import load_dataset
from adgcl.experiments.planning import Request, plan
from adgcl.experiments.source import Source
from adgcl.training.trainer import Trainer
from benchmarks.costs import COSTS, PAGE, page
from benchmarks.method_page import METHODS, method_section

DATASETS = ("PROTEINS", "NCI1", "COLLAB")
_EQUAL = {
    "encoder": {"name": "gin", "hidden_dim": 32, "num_layers": 5},
    "training": {"batch_size": 32, "device": "cpu", "threads": 1, "step": "plain"},
    "data": {"features": "constant"},
    "protocol": {"mode": "strict"},
}


class Steps:
    """Training steps of a method on a data set, one after another through epochs without end."""

    def __init__(self, name: str, dataset: Dataset) -> None:
        run = plan(dataset, Request(name, flags=_EQUAL)).run
        self.trainer = Trainer(run, Source(dataset).seen_through(dataset, run.data).store)
        self.generator, self.order = torch.Generator().manual_seed(0), np.zeros(0, dtype=np.int64)

    def timed(self, steps: int) -> float:
        """CPU seconds of a mean step, over as many as asked for."""
        store, size = self.trainer.store, self.trainer.config.training.batch_size
        spent = 0.0
        for _ in range(steps):
            if len(self.order) < size:
                self.order = np.random.default_rng(0).permutation(len(store))
            ids, self.order = self.order[:size], self.order[size:]
            started = time.process_time()
            self.trainer.method.step(store.batch(ids), self.generator)
            spent += time.process_time() - started
        return spent / steps


def measure(name: str, steps: int, rounds: int) -> dict[str, Any]:
    """Seconds of an epoch of each method, from the best of several rounds."""
    dataset = load_dataset(name)
    works = {method: Steps(method, dataset) for method in METHODS}
    best = dict.fromkeys(METHODS, float("inf"))
    for work in works.values():
        work.timed(2)  # the first steps compile and allocate
    for _ in range(rounds):
        for method, work in works.items():
            best[method] = min(best[method], work.timed(steps))
    epoch = works["adgcl"].trainer.steps
    for method, step in best.items():
        print(f"{name} {method}: {step * epoch:.3g} s an epoch", file=sys.stderr, flush=True)
    return {"graphs": len(dataset), "seconds": {method: round(step * epoch, 4) for method, step in best.items()}}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.method_costs", description=__doc__)
    parser.add_argument("--datasets", nargs="+", default=list(DATASETS), help="which data sets")
    parser.add_argument("--steps", type=int, default=20, help="steps per round; a multiple of 5, JOAO's period")
    parser.add_argument("--rounds", type=int, default=3, help="rounds, of which the best counts")
    parser.add_argument("--write", action="store_true", help="add the rows to costs.json and generate the page")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    tree: dict[str, Any] = json.loads(COSTS.read_text(encoding="utf-8"))
    rows = dict(tree.get("methods", {}))
    here = machine()
    for name in arguments.datasets:
        rows[name] = {**measure(name, arguments.steps, arguments.rounds), "machine": here["processor"]}
    tree["methods"] = dict(sorted(rows.items(), key=lambda item: item[1]["seconds"]["adgcl"]))
    if arguments.write:
        write_json(COSTS, tree)
        write_text(PAGE, page(tree))
    else:
        print(method_section(tree["methods"]))


if __name__ == "__main__":
    main()
