"""Pre-training as a job of its own: it trains and evaluates nothing, and other jobs start from its encoder."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from adgcl.core.provenance import peak_memory_mb
from adgcl.data.dataset import Dataset
from adgcl.protocols.base import PROTOCOLS, Protocol, ProtocolConfig
from adgcl.protocols.seed_run import SeedRun, last_metrics
from adgcl.training.run_config import RunConfig
from adgcl.training.run_folder import RunFolder
from adgcl.training.runs import describe_data
from adgcl.training.trackers import Tracker
from adgcl.training.trainer import Trainer


class PretrainingConfig(ProtocolConfig):
    """Nothing to set but the name."""

    name: str = "pretraining"


@PROTOCOLS.register("pretraining")
class Pretraining(Protocol):
    """The folder of a seed is an ordinary run folder: `adgcl finetune` and `adgcl embed` read it too."""

    Config = PretrainingConfig
    title = "pre-training"
    evaluates = False
    config: PretrainingConfig

    @property
    def scores(self) -> tuple[str, ...]:
        return ()

    def check_data(self, dataset: Dataset) -> None:
        """Labels are not needed."""

    def run_seed(
        self, dataset: Dataset, run: RunConfig, *, folder: Path | None = None, trackers: Sequence[Tracker] = ()
    ) -> SeedRun:
        if (finished := SeedRun.load(folder)) is not None:
            return finished
        started = time.monotonic()
        files = RunFolder(folder) if folder else None
        trainer = Trainer(
            run, dataset.store, folder=files, trackers=trackers, resume=folder is not None, data=describe_data(dataset)
        )
        trainer.fit()
        # An earlier command may have trained some of the epochs: their own clocks are added up.
        epochs = [row.get("seconds", 0.0) for row in files.read_metrics()] if files else [time.monotonic() - started]
        seconds = round(sum(epochs), 2)
        result = SeedRun(run.training.seed, (), last_metrics(trainer), seconds, peak_memory_mb(), trainer.data["step"])
        result.save(folder)
        return result
