"""The supervised protocol: in every fold a fresh model learns from the labels of its training part (F-GIN)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import Field

from adgcl.core.records import Record
from adgcl.data.dataset import Dataset
from adgcl.graphs.store.store import GraphStore
from adgcl.protocols.base import PROTOCOLS, WITH_LABELS, Protocol, ProtocolConfig, epoch_seconds
from adgcl.protocols.fold_training import HEAD, Course, train_folds
from adgcl.protocols.parts import fold_parts
from adgcl.protocols.seed_run import SeedRun
from adgcl.published import PublishedTable
from adgcl.training.run_config import RunConfig
from adgcl.training.trackers import Tracker


class SupervisedProtocolConfig(ProtocolConfig):
    """How a model that predicts with its own head is evaluated."""

    name: str = "supervised"
    evaluate_every: int = Field(5, ge=1, description="epochs between evaluations")
    num_folds: int = Field(10, ge=2, description="folds where the data has no split of its own")


@PROTOCOLS.register("supervised")
class Supervised(Protocol):
    """A fold's model sees only the training graphs and their labels; validation scores choose its epoch."""

    Config = SupervisedProtocolConfig
    title = "training with labels"
    learns_from_labels = True
    config: SupervisedProtocolConfig

    @property
    def scores(self) -> tuple[str, ...]:
        return (HEAD,)

    def seconds(self, run: RunConfig, store: GraphStore) -> float:
        return run.training.epochs * WITH_LABELS * epoch_seconds(run, store) * self.config.num_folds

    @classmethod
    def describe(cls, record: Record) -> str:
        return "supervised head"

    @classmethod
    def fills(cls, table: PublishedTable, score: str) -> bool:
        """The paper prints the supervised encoder as a row of its unsupervised tables, whatever their probe."""
        return table.protocol == "unsupervised"

    def run_seed(
        self, dataset: Dataset, run: RunConfig, *, folder: Path | None = None, trackers: Sequence[Tracker] = ()
    ) -> SeedRun:
        """Train and evaluate every fold; finished folds come from `folder`, and one in progress resumes there."""
        if (finished := SeedRun.load(folder)) is not None:
            return finished
        parts = fold_parts(dataset, self.config.mode, run.training.seed, self.config.num_folds)
        return train_folds(dataset, parts, run, Course(self.config.evaluate_every), folder, trackers)
