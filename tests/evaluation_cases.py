"""Small settings, evaluated: the starting point for tests of protocols and Records."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from adgcl.core.records import Record
from adgcl.data.dataset import Dataset
from adgcl.experiments.evaluation import Watcher, Work, evaluate_loaded
from adgcl.experiments.planning import Plan
from adgcl.experiments.schedule import Event
from adgcl.experiments.source import LoadedSource, Source
from adgcl.protocols.base import ProtocolConfig, make_protocol
from adgcl.protocols.seed_run import SeedRun
from adgcl.training.run_config import RunConfig


class Listener(Watcher):
    """Keeps what running jobs report, with the seed it is about."""

    def __init__(self) -> None:
        self.heard: list[tuple[int, Any]] = []

    def __call__(self, event: Event) -> None:
        if event.kind == "progress":
            self.heard.append((event.job.seed, event.content))


def run_seed(dataset: Dataset, run: RunConfig, judging: ProtocolConfig, folder: Path | None = None) -> SeedRun:
    """One seed of the protocol that `judging` names."""
    return make_protocol(judging).run_seed(dataset, run, folder=folder)


def evaluated(
    dataset: Dataset,
    run: RunConfig,
    judging: ProtocolConfig,
    seeds: Sequence[int],
    *,
    jobs: int = 1,
    work: Path | None = None,
    watcher: Watcher | None = None,
) -> list[Record]:
    """The Records of some seeds, as `adgcl evaluate` makes them."""
    # The data as it is: the settings of the run add nothing to it.
    own = run.model_copy(update={"data": run.data.model_copy(update={"features": "labels"})})
    data, request = LoadedSource.of(Source(dataset)), Plan(own, judging).request
    return evaluate_loaded(data, request, seeds, Work(work, jobs), watcher=watcher).records
