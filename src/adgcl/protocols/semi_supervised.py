"""The semi-supervised protocol: pre-train on all graphs, then learn from the labels of a few (You et al. 2020)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from pydantic import Field

from adgcl.core.records import Record
from adgcl.data.dataset import Dataset
from adgcl.graphs.store.store import GraphStore
from adgcl.protocols.base import PROTOCOLS, Protocol, ProtocolConfig, epoch_seconds
from adgcl.protocols.fold_training import HEAD, Course, train_folds
from adgcl.protocols.label_parts import Validation, labelled_parts
from adgcl.protocols.parts import Part
from adgcl.protocols.seed_run import SeedRun
from adgcl.protocols.selection import Selected
from adgcl.protocols.starts import note_of_start, row_of_start
from adgcl.training.run_config import RunConfig
from adgcl.training.trackers import Tracker

PUBLISHED_RATE = 0.1
# The time of a pass forward and backward, and of one forward only, in that of a step of AD-GCL.
_BOTH_WAYS, _FORWARD = 0.25, 0.08
_LEAKY = (
    "Leaky: the epoch was chosen by the test folds themselves, as in the published experiments, and every seed learns "
    "from the same labels."
)


class SemiSupervisedConfig(ProtocolConfig):
    """How many labels a model sees, and which labels choose its epoch."""

    name: str = "semi_supervised"
    label_rate: float = Field(
        PUBLISHED_RATE, gt=0.0, le=1.0, description="share of the training part of a fold whose labels are shown"
    )
    validation: Validation = Field(
        "fold",
        description="in strict mode, the labels that choose the epoch: those of a whole fold, or a fifth of the shown",
    )
    evaluate_every: int = Field(1, ge=1, description="epochs between evaluations")
    num_folds: int = Field(10, ge=3, description="folds where the data has no split of its own")


@PROTOCOLS.register("semi_supervised")
class SemiSupervised(Protocol):
    """The whole network learns from the labels of `label_rate`, from `training.start_from` or from scratch.

    As published, folds and labels are the same for every seed, and the epoch is the one with the best mean test score.
    In strict mode both differ between seeds, and other graphs than those tested choose the epoch.
    """

    Config = SemiSupervisedConfig
    title = "few labels"
    learns_from_labels = True
    shares_folds = True
    config: SemiSupervisedConfig

    @property
    def scores(self) -> tuple[str, ...]:
        return (HEAD,)

    @property
    def comparable(self) -> bool:
        return self.config.label_rate == PUBLISHED_RATE

    def check_data(self, dataset: Dataset) -> None:
        super().check_data(dataset)
        self._parts(dataset, 0)

    def run_seed(
        self, dataset: Dataset, run: RunConfig, *, folder: Path | None = None, trackers: Sequence[Tracker] = ()
    ) -> SeedRun:
        if (finished := SeedRun.load(folder)) is not None:
            return finished
        parts = self._parts(dataset, run.training.seed)
        return train_folds(dataset, parts, run, Course(self.config.evaluate_every), folder, trackers)

    def _parts(self, dataset: Dataset, seed: int) -> list[Part]:
        config = self.config
        return labelled_parts(dataset, config.mode, seed, config.num_folds, config.label_rate, config.validation)

    def seconds(self, run: RunConfig, store: GraphStore) -> float:
        """Every fold learns from its labels, and goes forward over its test part after every epoch."""
        learning = _BOTH_WAYS * self.config.label_rate * self.config.num_folds
        return run.training.epochs * epoch_seconds(run, store) * (learning + _FORWARD / self.config.evaluate_every)

    def row(self, run: RunConfig, asked: str) -> str:
        return row_of_start(run, asked)

    def notes(self, run: RunConfig) -> list[str]:
        shown = f"Labels of {100 * self.config.label_rate:g} % of the training graphs of each fold."
        return [shown, *([_LEAKY] if self.config.mode == "as_published" else []), note_of_start(run)]

    def remarks(self, chosen: Sequence[Selected], scale: float) -> list[str]:
        folds = [np.array(one.test_folds)[~np.isnan(one.test_folds)] * scale for one in chosen]
        spreads = [float(np.std(values, ddof=1)) for values in folds if len(values) > 1]
        if not spreads:
            return []
        return [f"Spread over the folds of a seed: ± {np.mean(spreads):.4g} (standard deviation, mean over seeds)."]

    @classmethod
    def describe(cls, record: Record) -> str:
        rate = record.config.get("protocol", {}).get("label_rate", PUBLISHED_RATE)
        leaky = ", epoch chosen on test folds (leaky)" if record.mode == "as_published" else ""
        return f"{100 * rate:g} % of labels{leaky}"
