"""The unsupervised protocol: train without labels, freeze, judge the embeddings by a linear or SVM probe."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from adgcl.core.config import Config
from adgcl.core.errors import DataError
from adgcl.core.provenance import peak_memory_mb
from adgcl.data.dataset import Dataset
from adgcl.methods.base import METHODS, Method
from adgcl.protocols.probes import ProbeScore, probe_folds, probe_split
from adgcl.protocols.probes.folds import fold_seed
from adgcl.protocols.seed_run import History, SeedRun
from adgcl.protocols.selection import Evaluation, Mode
from adgcl.protocols.supervised import run_folds
from adgcl.training.device import one_blas_thread
from adgcl.training.embedding import embed_dataset
from adgcl.training.run_config import RunConfig
from adgcl.training.run_folder import RunFolder
from adgcl.training.runs import describe_data
from adgcl.training.trackers import Tracker
from adgcl.training.trainer import Trainer

Probe = Literal["linear", "svm"]


class UnsupervisedConfig(Config):
    """How embeddings are judged."""

    mode: Mode = Field("strict", description="as_published repeats the paper's choices, strict leaks nothing")
    probes: tuple[Probe, ...] = Field(("linear",), description="linear, svm, or both on the same embeddings")
    evaluate_every: int = Field(5, ge=1, description="epochs between evaluations")
    svm_epochs: tuple[int, ...] = Field(
        (), description="the only epochs the SVM probe judges, besides the last; none means every evaluation"
    )
    num_folds: int = Field(10, ge=2, description="folds where the data has no split of its own")

    def probes_at(self, epoch: int, epochs: int) -> tuple[Probe, ...]:
        """The probes that judge after `epoch` of `epochs`."""
        last = epoch == epochs
        due = {
            "linear": last or epoch % self.evaluate_every == 0,
            "svm": last or (epoch in self.svm_epochs if self.svm_epochs else epoch % self.evaluate_every == 0),
        }
        return tuple(probe for probe in self.probes if due[probe])


def judge(embedding: Any, dataset: Dataset, config: UnsupervisedConfig, seed: int, epoch: int = 0) -> list[Evaluation]:
    """Score one embedding matrix with every probe asked for.

    In `as_published` mode every evaluation draws new folds, as the authors' code does; in `strict` mode the folds
    depend on the seed alone, so that epochs compare on equal terms.
    """
    y = dataset.store.y
    if y is None or dataset.task.kind == "none":
        raise DataError(
            f"{dataset.name} has no labels to judge an embedding by.", "Use `adgcl embed`, or name a label column."
        )
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


def run_seed(
    dataset: Dataset,
    run: RunConfig,
    protocol: UnsupervisedConfig,
    *,
    folder: Path | None = None,
    trackers: Sequence[Tracker] = (),
) -> SeedRun:
    """Train one seed and judge it along the way; a folder makes it resumable and keeps the result.

    A method that learns from labels has a protocol of its own: its test labels must not be among them.
    """
    result = SeedRun.load(folder)
    if result is None:
        supervised = METHODS[run.method.name].needs_labels
        result = (run_folds if supervised else _train_and_probe)(dataset, run, protocol, folder, trackers)
        result.save(folder)
    return result


def _train_and_probe(
    dataset: Dataset, run: RunConfig, protocol: UnsupervisedConfig, folder: Path | None, trackers: Sequence[Tracker]
) -> SeedRun:
    """Train on all graphs without their labels, and judge the embedding along the way."""
    history = History(folder)
    started = time.monotonic()
    files = RunFolder(folder) if folder else None
    trainer = Trainer(
        run, dataset.store, folder=files, trackers=trackers, resume=folder is not None, data=describe_data(dataset)
    )
    history.forget_after(trainer.progress.epoch)
    spent = history.seconds

    def evaluate(method: Method, epoch: int, probes: tuple[Probe, ...]) -> None:
        embedding = embed_dataset(method, dataset)
        seconds = spent + time.monotonic() - started
        asked = protocol.model_copy(update={"probes": probes})
        history.add(judge(embedding, dataset, asked, run.training.seed, epoch), seconds)

    def after_epoch(epoch: int) -> None:
        if probes := protocol.probes_at(epoch, run.training.epochs):
            evaluate(trainer.method, epoch, probes)

    method = trainer.fit(after_epoch)
    if not history.evaluations:
        evaluate(method, trainer.progress.epoch, protocol.probes)
    rows = RunFolder(folder).read_metrics() if folder else []
    training = {k: v for k, v in rows[-1].items() if k in ("loss", "drop_ratio")} if rows else {}
    seconds = round(spent + time.monotonic() - started, 2)
    return SeedRun(run.training.seed, tuple(history.evaluations), training, seconds, peak_memory_mb())
