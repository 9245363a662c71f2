"""The semi-supervised protocol: pre-train on all graphs, then learn from the labels of a few (You et al. 2020)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from pydantic import Field

from adgcl.core.provenance import peak_memory_mb
from adgcl.core.records import Record
from adgcl.data.dataset import Dataset
from adgcl.graphs.store.store import GraphStore
from adgcl.methods.base import METHODS
from adgcl.protocols.base import FORWARD, PROTOCOLS, WITH_LABELS, Protocol, ProtocolConfig, epoch_seconds
from adgcl.protocols.fold_training import HEAD, Course, train_folds
from adgcl.protocols.label_parts import Validation, absent_classes, labelled_parts
from adgcl.protocols.parts import Part, labels_of
from adgcl.protocols.probes import probe_parts
from adgcl.protocols.seed_run import SeedRun
from adgcl.protocols.selection import Evaluation, Selected
from adgcl.protocols.starts import note_of_start, row_of_start
from adgcl.training.device import one_blas_thread
from adgcl.training.embedding import embed_dataset
from adgcl.training.run_config import RunConfig
from adgcl.training.trackers import Tracker
from adgcl.training.trainer import build_method

PUBLISHED_RATE = 0.1
_GRAPH = 1e-4  # seconds that a probe needs for a graph
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
    shared_head: bool = Field(
        False,
        description="with start_from, all folds of a seed start from the same untrained head, as published; else each "
        "from its own",
    )
    evaluate_every: int = Field(1, ge=1, description="epochs between evaluations")
    patience: int = Field(0, ge=0, description="stop after this many epochs with no better validation score; 0: never")
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
    probes = True
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
        if not METHODS[run.method.name].trains:
            return self._probed(dataset, parts, run, folder)
        course = Course(self.config.evaluate_every, self.config.patience)
        # The encoder comes from elsewhere, so what the folds share is the head.
        shared = self.config.shared_head and bool(run.training.start_from)
        return train_folds(dataset, parts, run, course, folder, trackers, same_start=shared)

    def _probed(self, dataset: Dataset, parts: list[Part], run: RunConfig, folder: Path | None) -> SeedRun:
        """Rows that are computed and not learned: a linear probe learns from the same labels."""
        started, seed = time.monotonic(), run.training.seed
        method = build_method(run, dataset.store.spec, dataset.task)
        method.begin(dataset.store)
        spared = self.config.mode == "strict" and self.config.validation == "labels"
        pairs = [(np.concatenate((p.train, p.valid)) if spared else p.train, p.test) for p in parts]
        with one_blas_thread():
            score = probe_parts(embed_dataset(method, dataset), labels_of(dataset), dataset.task, pairs, seed=seed)
        evaluation = Evaluation(0, HEAD, score.valid, score.test, score.valid_folds, score.test_folds, ())
        result = SeedRun(seed, (evaluation,), {}, round(time.monotonic() - started, 2), peak_memory_mb())
        result.save(folder)
        return result

    def _parts(self, dataset: Dataset, seed: int) -> list[Part]:
        config = self.config
        return labelled_parts(dataset, config.mode, seed, config.num_folds, config.label_rate, config.validation)

    def seconds(self, run: RunConfig, store: GraphStore) -> float:
        """Every fold learns from its labels, and goes forward over its test part after every epoch."""
        if not METHODS[run.method.name].trains:
            return _GRAPH * len(store) * self.config.num_folds
        learning = WITH_LABELS * self.config.label_rate * self.config.num_folds
        return run.training.epochs * epoch_seconds(run, store) * (learning + FORWARD / self.config.evaluate_every)

    def row(self, run: RunConfig, asked: str) -> str:
        return row_of_start(run, asked)

    def notes(self, run: RunConfig) -> list[str]:
        shown = f"Labels of {100 * self.config.label_rate:g} % of the training graphs of each fold."
        if not METHODS[run.method.name].trains:
            return [shown, "Nothing but a linear probe was trained, and no epoch was chosen."]
        return [shown, *([_LEAKY] if self.config.mode == "as_published" else []), note_of_start(run)]

    def data_notes(self, dataset: Dataset, seeds: Sequence[int]) -> list[str]:
        return absent_classes(dataset, [part for seed in seeds for part in self._parts(dataset, seed)])

    def remarks(self, chosen: Sequence[Selected], scale: float) -> list[str]:
        folds = [np.array(one.test_folds)[~np.isnan(one.test_folds)] * scale for one in chosen]
        spreads = [float(np.std(values, ddof=1)) for values in folds if len(values) > 1]
        if not spreads:
            return []
        return [f"Spread over the folds of a seed: ± {np.mean(spreads):.4g} (standard deviation, mean over seeds)."]

    @classmethod
    def describe(cls, record: Record) -> str:
        rate = record.config.get("protocol", {}).get("label_rate", PUBLISHED_RATE)
        leaky = ", epoch chosen on test folds (leaky)" if _LEAKY in record.notes else ""
        return f"{100 * rate:g} % of labels{leaky}"
