"""A finished run evaluated on labelled data, which it may never have seen: its embedding is frozen."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from adgcl.core.errors import ConfigError
from adgcl.core.provenance import peak_memory_mb
from adgcl.core.records import Record
from adgcl.data.dataset import Dataset
from adgcl.protocols.base import PROTOCOLS
from adgcl.protocols.seed_run import SeedRun
from adgcl.protocols.unsupervised import Unsupervised, UnsupervisedConfig, judge
from adgcl.published import PublishedTable
from adgcl.training.run_config import RunConfig
from adgcl.training.trackers import Tracker

# The ending of a row whose embedding stands next to a fingerprint.
WITH_ECFP = "+ecfp"


class FinishedRunConfig(UnsupervisedConfig):
    """How the embedding of a finished run is evaluated."""

    name: str = "finished-run"


@PROTOCOLS.register("finished-run")
class FinishedRun(Unsupervised):
    """The probes of the unsupervised protocol on one embedding; seeds differ in their folds only."""

    Config = FinishedRunConfig
    title = "probes of a finished run"
    trains = False

    def run_seed(
        self, dataset: Dataset, run: RunConfig, *, folder: Path | None = None, trackers: Sequence[Tracker] = ()
    ) -> SeedRun:
        raise ConfigError("The protocol 'finished-run' trains nothing.", "Use `adgcl evaluate RUN DATA`.")

    def judge_seed(self, embedding: Any, dataset: Dataset, seed: int) -> SeedRun:
        """Evaluate an embedding on the folds of one seed."""
        started = time.monotonic()
        evaluations = tuple(judge(embedding, dataset, self.config, seed))
        return SeedRun(seed, evaluations, {}, round(time.monotonic() - started, 2), peak_memory_mb())

    @classmethod
    def describe(cls, record: Record) -> str:
        return f"{record.probe} probe, one run"

    @classmethod
    def fills(cls, table: PublishedTable, score: str) -> bool:
        """None: the paper's figures come from runs trained for that purpose."""
        return False
