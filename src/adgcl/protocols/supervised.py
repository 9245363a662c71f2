"""The supervised protocol: in every fold a fresh model learns from the labels of its training part (F-GIN)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field

from adgcl.core.provenance import peak_memory_mb
from adgcl.core.records import Record
from adgcl.core.schema import Task
from adgcl.core.seeds import derived_seed
from adgcl.data.dataset import Dataset
from adgcl.graphs.store.store import GraphStore
from adgcl.methods.supervised import Supervised as SupervisedMethod
from adgcl.protocols.base import PROTOCOLS, Protocol, ProtocolConfig, epoch_seconds
from adgcl.protocols.parts import Part, fold_parts, score_part
from adgcl.protocols.probes.selection import mean_defined
from adgcl.protocols.seed_run import History, SeedRun, last_metrics
from adgcl.protocols.selection import Evaluation
from adgcl.protocols.solvers.arrays import Floats, Ints
from adgcl.published import PublishedTable
from adgcl.training.run_config import RunConfig
from adgcl.training.run_folder import RunFolder
from adgcl.training.runs import describe_data
from adgcl.training.trackers import StepReport, Tracker
from adgcl.training.trainer import Trainer

HEAD = "head"
_BATCH = 128


class SupervisedProtocolConfig(ProtocolConfig):
    """How a model that predicts by a head of its own is judged."""

    name: str = "supervised"
    evaluate_every: int = Field(5, ge=1, description="epochs between evaluations")
    num_folds: int = Field(10, ge=2, description="folds where the data has no split of its own")


@PROTOCOLS.register("supervised")
class Supervised(Protocol):
    """A fold's model sees the training graphs and their labels alone; validation scores choose its epoch."""

    Config = SupervisedProtocolConfig
    title = "training with labels"
    config: SupervisedProtocolConfig

    @property
    def scores(self) -> tuple[str, ...]:
        return (HEAD,)

    def seconds(self, run: RunConfig, store: GraphStore) -> float:
        return run.training.epochs * epoch_seconds(run, store) * self.config.num_folds

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
        """Train and judge every fold; finished folds come from `folder`, one in progress goes on there."""
        if (finished := SeedRun.load(folder)) is not None:
            return finished
        seed = run.training.seed
        parts = fold_parts(dataset, self.config.mode, seed, self.config.num_folds)
        tracker, data = _OneRun(trackers, len(parts)), describe_data(dataset)
        folds = []
        try:
            for k, part in enumerate(parts):
                tracker.fold = k
                own = run.with_training(seed=derived_seed(seed, "fold", k))
                place = folder / f"fold-{k}" if folder else None
                folds.append(_run_fold(dataset.store, part, own, self.config.evaluate_every, place, tracker, data))
        finally:
            tracker.close()
        names = {name for fold in folds for name in fold.training}
        training = {name: float(np.mean([fold.training[name] for fold in folds])) for name in sorted(names)}
        seconds = round(sum(fold.seconds for fold in folds), 2)
        result = SeedRun(seed, _side_by_side(folds), training, seconds, peak_memory_mb())
        result.save(folder)
        return result


def _run_fold(
    store: GraphStore, part: Part, run: RunConfig, every: int, folder: Path | None, tracker: Tracker, data: Any
) -> SeedRun:
    finished = SeedRun.load(folder)
    if finished is not None:
        return finished
    started, history = time.monotonic(), History(folder)
    files = RunFolder(folder) if folder else None
    train = store.select(part.train)
    trainer = Trainer(run, train, folder=files, trackers=[tracker], resume=folder is not None, data=data)
    assert isinstance(trainer.method, SupervisedMethod)
    method = trainer.method
    history.forget_after(trainer.position.epoch)
    spent = history.seconds

    def evaluate(epoch: int) -> None:
        valid, test = part_scores(method, store, (part.valid, part.test))
        seconds = spent + time.monotonic() - started
        history.add([Evaluation(epoch, HEAD, valid, test, (valid,), (test,), ())], seconds)

    def after_epoch(epoch: int) -> None:
        if epoch % every == 0 or epoch == run.training.epochs:
            evaluate(epoch)

    trainer.fit(after_epoch)
    if not history.evaluations:
        evaluate(trainer.position.epoch)
    seconds = round(spent + time.monotonic() - started, 2)
    result = SeedRun(run.training.seed, tuple(history.evaluations), last_metrics(trainer), seconds, peak_memory_mb())
    result.save(folder)
    return result


def part_scores(method: SupervisedMethod, store: GraphStore, parts: Sequence[Ints]) -> list[float]:
    """The task's metric on each part; NaN where it is undefined."""
    ids = np.concatenate(parts)
    device = method.target_mean.device
    chunks = [ids[start : start + _BATCH] for start in range(0, len(ids), _BATCH)]
    outputs = np.concatenate([method.predict(store.batch(chunk).to(device)).cpu().numpy() for chunk in chunks])
    predicted = np.split(_scorable(outputs.astype(np.float64), store.task), np.cumsum([len(p) for p in parts])[:-1])
    assert store.y is not None
    return [score_part(store.task, store.y[part], rows) for part, rows in zip(parts, predicted, strict=True)]


def _scorable(outputs: Floats, task: Task) -> Floats:
    """Outputs as the metrics want them: class numbers for accuracy, else logits or values as they are."""
    if task.kind == "multiclass":
        return outputs.argmax(1)[:, None].astype(np.float64)
    return (outputs > 0).astype(np.float64) if task.metric == "accuracy" else outputs


def _side_by_side(folds: Sequence[SeedRun]) -> tuple[Evaluation, ...]:
    """The evaluations of all folds, epoch by epoch."""
    merged = []
    for row in zip(*(fold.evaluations for fold in folds), strict=True):
        valid, test = tuple(e.valid for e in row), tuple(e.test for e in row)
        mean_valid, mean_test = (float(mean_defined(np.array(scores), 0)) for scores in (valid, test))
        merged.append(Evaluation(row[0].epoch, HEAD, mean_valid, mean_test, valid, test, ()))
    return tuple(merged)


class _OneRun:
    """Shows the folds of a seed to its trackers as one long run."""

    def __init__(self, trackers: Sequence[Tracker], folds: int) -> None:
        self.trackers, self.folds, self.fold, self.epochs = trackers, folds, 0, 0
        self.started = False

    def start(self, epochs: int, steps: int, done: int) -> None:
        self.epochs = epochs
        for tracker in () if self.started else self.trackers:
            tracker.start(epochs * self.folds, steps, self.fold * epochs * steps + done)
        self.started = True

    def step(self, report: StepReport) -> None:
        epoch = self.fold * self.epochs + report.epoch
        for tracker in self.trackers:
            tracker.step(replace(report, epoch=epoch, epochs=self.epochs * self.folds))

    def epoch(self, row: dict[str, Any]) -> None:
        for tracker in self.trackers:
            tracker.epoch({**row, "epoch": self.fold * self.epochs + row["epoch"]})

    def stop(self) -> None:
        """One fold's Trainer stops; the run goes on."""

    def close(self) -> None:
        for tracker in self.trackers if self.started else ():
            tracker.stop()
