"""Protocol: how to evaluate. It owns its settings, what one seed does, and the names of its scores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from pydantic import Field

from adgcl.core.config import Config, Tree
from adgcl.core.errors import DataError
from adgcl.core.records import Record
from adgcl.core.registry import Registry
from adgcl.data.dataset import Dataset
from adgcl.encoders.base import ENCODERS
from adgcl.graphs.store.store import GraphStore
from adgcl.protocols.seed_run import SeedRun
from adgcl.protocols.selection import Mode, Selected
from adgcl.published import PublishedTable
from adgcl.training.run_config import RunConfig
from adgcl.training.trackers import Tracker

DEFAULT_PROTOCOL = "unsupervised"

# Seconds on one core of an ordinary server, measured with AD-GCL (docs/speed.md): for a step as such, for a node times
# width squared, and for an edge times width. Only ratios matter once a job is finished.
_STEP, _NODE, _EDGE = 0.001, 4e-9, 4e-9
# What training with labels takes of that, and a pass that only looks.
WITH_LABELS, FORWARD = 0.25, 0.08


class ProtocolConfig(Config):
    """Settings every protocol has."""

    name: str = Field(DEFAULT_PROTOCOL, description="how to evaluate")
    mode: Mode = Field("strict", description="as_published repeats the paper's choices, strict leaks nothing")


class Protocol(ABC):
    """How one seed of a run is evaluated on labelled data, and how its Records are read.

    A subclass says in `run_seed` what a seed does, and in `scores` what it measures: each score becomes a Record.
    Everything else has a default that fits most protocols.
    """

    Config: ClassVar[type[ProtocolConfig]] = ProtocolConfig
    name: ClassVar[str] = ""
    # Its name for people.
    title: ClassVar[str] = ""
    # Whether it trains what it evaluates; if not, it evaluates an existing run.
    trains: ClassVar[bool] = True
    # Whether it evaluates what it trains; if not, other jobs start from its encoder.
    evaluates: ClassVar[bool] = True
    # Whether what it evaluates learns from the labels of its training part; other protocols show a method no labels.
    learns_from_labels: ClassVar[bool] = False
    # Whether, although it learns from labels, it can also evaluate rows that are computed, by a probe.
    probes: ClassVar[bool] = False
    # Whether the folds of a seed in strict mode are the same for every method, so that scores can be paired.
    shares_folds: ClassVar[bool] = False

    def __init__(self, config: ProtocolConfig) -> None:
        self.config = config

    @property
    @abstractmethod
    def scores(self) -> tuple[str, ...]:
        """What it measures, by name."""

    @abstractmethod
    def run_seed(
        self, dataset: Dataset, run: RunConfig, *, folder: Path | None = None, trackers: Sequence[Tracker] = ()
    ) -> SeedRun:
        """Train one seed and evaluate it; with a folder, it can be stopped and resumed there."""

    def select(self, run: SeedRun, score: str, higher_is_better: bool) -> Selected:
        """The result of a seed: by default the epoch that validation chooses, according to the mode."""
        return run.selected(score, self.config.mode, higher_is_better)

    def row(self, run: RunConfig, asked: str) -> str:
        """A Record's name in tables: the requested row, or else the method."""
        return asked or run.method.name

    def notes(self, run: RunConfig) -> list[str]:
        """What a reader of a Record must know about how it was made."""
        return []

    def data_notes(self, dataset: Dataset, seeds: Sequence[int]) -> list[str]:
        """What a reader of a Record must know about its data."""
        return []

    def check_data(self, dataset: Dataset) -> None:
        """Refuse data that cannot be evaluated, before anything is trained."""
        check_labels(dataset)

    def essence(self, score: str | None = None) -> Tree:
        """The settings that decide one score, or all of them."""
        return self.config.essence()

    def wider(self) -> tuple[ProtocolConfig, ...]:
        """Other settings whose results include everything that these give."""
        return ()

    def seconds(self, run: RunConfig, store: GraphStore) -> float:
        """How long a seed should take on one core, given the size of its data and networks."""
        return run.training.epochs * epoch_seconds(run, store)

    @property
    def comparable(self) -> bool:
        """Whether its settings are those of published tables, so that their figures may stand beside its own."""
        return True

    def remarks(self, chosen: Sequence[Selected], scale: float) -> list[str]:
        """What a reader of a Record must know about its results, one of which each seed has `chosen`."""
        return []

    @classmethod
    def describe(cls, record: Record) -> str:
        """What a table says about how a Record of this protocol was evaluated."""
        return f"{record.probe}, protocol {cls.name}"

    @classmethod
    def fills(cls, table: PublishedTable, score: str) -> bool:
        """Whether a Record of this score belongs in a published table."""
        return table.protocol == cls.name and table.probe == score


class _Protocols(Registry[type[Protocol]]):
    """Protocols know the name they are registered under: their Records carry it."""

    def register(self, name: str):  # type: ignore[no-untyped-def]
        add = super().register(name)

        def named(entry: type[Protocol]) -> type[Protocol]:
            entry.name = name
            return add(entry)

        return named


PROTOCOLS: Registry[type[Protocol]] = _Protocols("protocol", "adgcl.protocols")


def make_protocol(config: ProtocolConfig) -> Protocol:
    """The protocol that `config` names."""
    return PROTOCOLS[config.name](config)


def check_labels(dataset: Dataset, purpose: str = "to evaluate an embedding with") -> None:
    """Refuse data without labels."""
    if dataset.store.y is None or dataset.task.kind == "none":
        raise DataError(
            f"{dataset.name} has no labels {purpose}.",
            f"{dataset.label_hint} Without labels, use `adgcl embed`.".lstrip()
            if dataset.label_hint
            else "Name a column with --label-column, or use `adgcl embed`.",
        )


def epoch_seconds(run: RunConfig, store: GraphStore) -> float:
    """How long one epoch of training with AD-GCL should take on one core."""
    width, name = run.encoder.hidden_dim, run.encoder.name
    steps = -(-len(store) // run.training.batch_size)
    sums = _NODE * len(store.in_degree) * width**2 + _EDGE * len(store.edge_source) * width
    return _STEP * steps + sums * (ENCODERS[name].cost if name in ENCODERS else 1.0)
