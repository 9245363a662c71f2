"""The fine-tuning protocol: a pre-trained encoder and a fresh head learn together from labels (Hu et al. 2020)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import Field

from adgcl.core.records import Record
from adgcl.data.dataset import Dataset
from adgcl.graphs.store.store import GraphStore
from adgcl.protocols.base import PROTOCOLS, WITH_LABELS, Protocol, ProtocolConfig, epoch_seconds
from adgcl.protocols.fold_training import HEAD, Course, Rule, train_folds
from adgcl.protocols.parts import fold_parts
from adgcl.protocols.seed_run import SeedRun
from adgcl.protocols.selection import Selected, select
from adgcl.protocols.starts import notes_of_start, row_of_start
from adgcl.training.run_config import RunConfig
from adgcl.training.trackers import Tracker


class FinetuneConfig(ProtocolConfig):
    """How long a model is fine-tuned, and which epoch's test score is reported."""

    name: str = "finetune"
    rule: Rule = Field(
        "best_validation", description="which epoch counts: the best on validation data (AD-GCL), or the last (GraphCL)"
    )
    evaluate_every: int = Field(1, ge=1, description="epochs between evaluations")
    patience: int = Field(0, ge=0, description="stop after this many epochs with no better validation score; 0: never")
    num_folds: int = Field(10, ge=2, description="folds where the data has no split of its own")

    @property
    def course(self) -> Course:
        return Course(self.evaluate_every, self.patience, self.rule)


@PROTOCOLS.register("finetune")
class Finetune(Protocol):
    """The network starts from `training.start_from`, or from scratch; validation scores alone choose its epoch.

    Where the data has a split, all seeds share it: they differ in the head, the order of the graphs and the dropout.
    """

    Config = FinetuneConfig
    title = "fine-tuning"
    learns_from_labels = True
    config: FinetuneConfig

    @property
    def scores(self) -> tuple[str, ...]:
        return (HEAD,)

    def run_seed(
        self, dataset: Dataset, run: RunConfig, *, folder: Path | None = None, trackers: Sequence[Tracker] = ()
    ) -> SeedRun:
        if (finished := SeedRun.load(folder)) is not None:
            return finished
        parts = fold_parts(dataset, self.config.mode, run.training.seed, self.config.num_folds)
        return train_folds(dataset, parts, run, self.config.course, folder, trackers)

    def select(self, run: SeedRun, score: str, higher_is_better: bool) -> Selected:
        judged = [e for e in run.evaluations if e.probe == score]
        return select(judged[-1:] if self.config.rule == "last_epoch" else judged, self.config.mode, higher_is_better)

    def wider(self) -> tuple[ProtocolConfig, ...]:
        """Both rules choose among the same epochs: what was trained under one serves the other."""
        other: Rule = "last_epoch" if self.config.rule == "best_validation" else "best_validation"
        return (self.config.model_copy(update={"rule": other}),)

    def seconds(self, run: RunConfig, store: GraphStore) -> float:
        """As for data with its own split; for other data, earlier seeds show what the remaining folds take."""
        return run.training.epochs * WITH_LABELS * epoch_seconds(run, store)

    def row(self, run: RunConfig, asked: str) -> str:
        return row_of_start(run, asked)

    def notes(self, run: RunConfig) -> list[str]:
        return notes_of_start(run)

    @classmethod
    def describe(cls, record: Record) -> str:
        last = record.config.get("protocol", {}).get("rule") == "last_epoch"
        return f"fine-tuned, {'last' if last else 'best validation'} epoch"
