"""`python -m tests.parallel.runs FOLDER`: runs that are stopped and resumed; the last one fails in one process."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import torch

from adgcl.core.errors import AdgclError, DataError, Interrupted
from adgcl.parallel.world import joined, world
from adgcl.training.run_config import resolve
from adgcl.training.run_folder import RunFolder
from adgcl.training.trainer import Trainer
from tests.graph_cases import random_store

STORE = random_store(num_graphs=20, seed=2)


def trainer(folder: Path, resume: bool = False, **training: Any) -> Trainer:
    settings = {
        "encoder": {"hidden_dim": 8, "num_layers": 2, "dropout": 0.2},
        "training": {"epochs": 3, "batch_size": 6, "device": "cpu", "checkpoint_seconds": 0.0, **training},
    }
    return Trainer(resolve(settings), STORE, folder=RunFolder(folder), resume=resume)


class Impatient:
    """Presses Ctrl-C in one process, in the middle of an epoch."""

    def start(self, epochs: int, steps: int, done: int) -> None: ...
    def epoch(self, row: dict[str, Any]) -> None: ...
    def stop(self) -> None: ...

    def step(self, report: Any) -> None:
        if (report.epoch, report.step) == (2, 2) and not world().leads:
            os.kill(os.getpid(), signal.SIGINT)


def stopped(folder: Path, **limit: Any) -> str:
    """What a run says that one process wants to stop."""
    run = trainer(folder)
    run.trackers = [Impatient()]
    try:
        run.fit(**limit)
    except Interrupted as error:
        return f"epoch {run.position.epoch}, step {run.position.step}: {error.hint}"
    return "not stopped"


def main(folder: Path) -> None:
    torch.set_num_threads(1)
    with joined():
        trainer(folder / "whole").fit()
        trainer(folder / "parts", epochs=1).fit()
        trainer(folder / "parts", resume=True).fit()
        said = {"signal": stopped(folder / "signal")}
        trainer(folder / "signal", resume=True).fit()
        # Only one process is out of time, and only one presses Ctrl-C.
        said["time"] = stopped(folder / "time", max_seconds=0.0 if world().leads else None)
        trainer(folder / "time", resume=True).fit()
        (folder / f"{world().rank}.json").write_text(json.dumps(said))
        failing = trainer(folder / "failing")
        if not world().leads:
            failing._take_step = _fail  # type: ignore[assignment]
        failing.fit()


def _fail(*batch: Any) -> Any:
    raise DataError("This graph cannot be read.")


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]))
    except AdgclError as error:
        sys.exit(str(error))
