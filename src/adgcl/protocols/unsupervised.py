"""The unsupervised protocol: train without labels, freeze, evaluate the embeddings with a linear or SVM probe."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import Field

from adgcl.core.config import Tree
from adgcl.core.provenance import peak_memory_mb
from adgcl.core.records import Record
from adgcl.data.dataset import Dataset
from adgcl.graphs.store.store import GraphStore
from adgcl.methods.base import Method
from adgcl.protocols.base import PROTOCOLS, Protocol, ProtocolConfig, check_labels, epoch_seconds
from adgcl.protocols.probes import ProbeScore, probe_folds, probe_split
from adgcl.protocols.probes.folds import fold_seed
from adgcl.protocols.seed_run import History, SeedRun, last_metrics
from adgcl.protocols.selection import Evaluation
from adgcl.training.device import one_blas_thread
from adgcl.training.embedding import embed_dataset
from adgcl.training.run_config import RunConfig
from adgcl.training.run_folder import RunFolder
from adgcl.training.runs import describe_data
from adgcl.training.trackers import Tracker, tell_scores
from adgcl.training.trainer import Trainer

Probe = Literal["linear", "svm"]
PROBES: tuple[Probe, ...] = ("linear", "svm")
_GRAPH = 1e-3  # seconds that a probe needs for a graph


class UnsupervisedConfig(ProtocolConfig):
    """How embeddings are evaluated."""

    name: str = "unsupervised"
    probes: tuple[Probe, ...] = Field(("linear",), description="linear, svm, or both on the same embeddings")
    evaluate_every: int = Field(5, ge=1, description="epochs between evaluations")
    svm_epochs: tuple[int, ...] = Field(
        (), description="the only epochs the SVM probe runs after, besides the last; none means every evaluation"
    )
    num_folds: int = Field(10, ge=2, description="folds where the data has no split of its own")

    def probes_at(self, epoch: int, epochs: int) -> tuple[Probe, ...]:
        """The probes that run after `epoch` of `epochs`."""
        last = epoch == epochs
        due = {
            "linear": last or epoch % self.evaluate_every == 0,
            "svm": last or (epoch in self.svm_epochs if self.svm_epochs else epoch % self.evaluate_every == 0),
        }
        return tuple(probe for probe in self.probes if due[probe])


@PROTOCOLS.register("unsupervised")
class Unsupervised(Protocol):
    """Train on all graphs without their labels, and evaluate the embedding along the way."""

    Config = UnsupervisedConfig
    title = "probes of a frozen embedding"
    shares_folds = True
    config: UnsupervisedConfig

    @property
    def scores(self) -> tuple[str, ...]:
        return self.config.probes

    def essence(self, score: str | None = None) -> Tree:
        tree = self.config.essence()
        if score is not None:
            # Other probes may score the same embeddings too, and only the SVM has its own epochs.
            del tree["probes"]
            if score != "svm":
                del tree["svm_epochs"]
        return tree

    def wider(self) -> tuple[ProtocolConfig, ...]:
        both = self.config.model_copy(update={"probes": PROBES})
        return () if both == self.config else (both,)

    def seconds(self, run: RunConfig, store: GraphStore) -> float:
        judgements = max(run.training.epochs // self.config.evaluate_every, 1)
        probing = _GRAPH * len(store) * len(self.config.probes) + epoch_seconds(run, store) / 5
        return super().seconds(run, store) + judgements * probing

    @classmethod
    def describe(cls, record: Record) -> str:
        return f"{record.probe} probe"

    def run_seed(
        self, dataset: Dataset, run: RunConfig, *, folder: Path | None = None, trackers: Sequence[Tracker] = ()
    ) -> SeedRun:
        if (finished := SeedRun.load(folder)) is not None:
            return finished
        started, history = time.monotonic(), History(folder)
        files = RunFolder(folder) if folder else None
        about = describe_data(dataset)
        trainer = Trainer(run, _shown(dataset), folder=files, trackers=trackers, resume=folder is not None, data=about)
        history.forget_after(trainer.position.epoch)
        spent = history.seconds

        def evaluate(method: Method, epoch: int, probes: tuple[Probe, ...]) -> None:
            embedding = embed_dataset(method, dataset)
            seconds = spent + time.monotonic() - started
            asked = self.config.model_copy(update={"probes": probes})
            found = judge(embedding, dataset, asked, run.training.seed, epoch)
            history.add(found, seconds)
            tell_scores(trackers, epoch, {e.probe: e.valid for e in found})

        def after_epoch(epoch: int) -> None:
            if probes := self.config.probes_at(epoch, run.training.epochs):
                evaluate(trainer.method, epoch, probes)

        method = trainer.fit(after_epoch)
        if not history.evaluations:
            evaluate(method, trainer.position.epoch, self.config.probes)
        seconds = round(spent + time.monotonic() - started, 2)
        result = SeedRun(
            run.training.seed,
            tuple(history.evaluations),
            last_metrics(trainer),
            seconds,
            peak_memory_mb(),
            trainer.data["step"],
        )
        result.save(folder)
        return result


def _shown(dataset: Dataset) -> GraphStore:
    """The graphs with only those labels that a method may look at: of the training part, where there is just one."""
    store = dataset.store
    if store.y is None:
        return store
    y = np.full_like(store.y, np.nan)
    if dataset.split is not None:
        y[dataset.split["train"]] = store.y[dataset.split["train"]]
    return store.with_labels(y, store.task)


def judge(embedding: Any, dataset: Dataset, config: UnsupervisedConfig, seed: int, epoch: int = 0) -> list[Evaluation]:
    """Score one embedding matrix with every probe asked for.

    In `as_published` mode every evaluation draws new folds, as the authors' code does; in `strict` mode the folds
    depend on the seed alone, so that epochs compare on equal terms.
    """
    check_labels(dataset)
    y = dataset.store.y
    assert y is not None
    drawn = fold_seed(seed, config.mode, epoch)
    evaluations = []
    with one_blas_thread():
        for probe in config.probes:
            score: ProbeScore
            if dataset.split is not None:
                score = probe_split(
                    embedding, y, dataset.task, dict(dataset.split), probe=probe, mode=config.mode, seed=drawn
                )
            else:
                score = probe_folds(
                    embedding,
                    y,
                    dataset.task,
                    probe=probe,
                    mode=config.mode,
                    seed=drawn,
                    num_folds=config.num_folds,
                )
            evaluations.append(Evaluation(epoch, probe, **asdict(score)))
    return evaluations
