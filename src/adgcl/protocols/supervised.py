"""The supervised protocol: in every fold a fresh model learns from the labels of its training part (F-GIN)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from adgcl.core.provenance import peak_memory_mb
from adgcl.core.schema import Task
from adgcl.core.seeds import derived_seed
from adgcl.data.dataset import Dataset
from adgcl.graphs.store.store import GraphStore
from adgcl.methods.supervised import Supervised
from adgcl.protocols.parts import Part, fold_parts, score_part
from adgcl.protocols.probes.selection import mean_defined
from adgcl.protocols.seed_run import History, SeedRun
from adgcl.protocols.selection import Evaluation
from adgcl.protocols.solvers.arrays import Floats, Ints
from adgcl.training.run_config import RunConfig
from adgcl.training.run_folder import RunFolder
from adgcl.training.runs import describe_data
from adgcl.training.trackers import StepReport, Tracker
from adgcl.training.trainer import Trainer

if TYPE_CHECKING:
    from adgcl.protocols.unsupervised import UnsupervisedConfig

HEAD = "head"
_BATCH = 128


def run_folds(
    dataset: Dataset,
    run: RunConfig,
    protocol: UnsupervisedConfig,
    folder: Path | None = None,
    trackers: Sequence[Tracker] = (),
) -> SeedRun:
    """Train and judge every fold of one seed; finished folds come from `folder`, one in progress goes on there.

    A fold's model sees the training graphs and their labels alone. The epoch is chosen later, by the validation
    scores, from the evaluations that this returns.
    """
    seed = run.training.seed
    parts = fold_parts(dataset, protocol.mode, seed, protocol.num_folds)
    tracker, data = _OneRun(trackers, len(parts)), describe_data(dataset)
    folds = []
    try:
        for k, part in enumerate(parts):
            tracker.fold = k
            own = run.with_training(seed=derived_seed(seed, "fold", k))
            place = folder / f"fold-{k}" if folder else None
            folds.append(_run_fold(dataset.store, part, own, protocol.evaluate_every, place, tracker, data))
    finally:
        tracker.close()
    losses = [fold.training["loss"] for fold in folds if "loss" in fold.training]
    training = {"loss": float(np.mean(losses))} if losses else {}
    return SeedRun(seed, _side_by_side(folds), training, round(sum(f.seconds for f in folds), 2), peak_memory_mb())


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
    assert isinstance(trainer.method, Supervised)
    method = trainer.method
    history.forget_after(trainer.progress.epoch)
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
        evaluate(trainer.progress.epoch)
    rows = files.read_metrics() if files else []
    training = {"loss": float(rows[-1]["loss"])} if rows else {}
    seconds = round(spent + time.monotonic() - started, 2)
    result = SeedRun(run.training.seed, tuple(history.evaluations), training, seconds, peak_memory_mb())
    result.save(folder)
    return result


def part_scores(method: Supervised, store: GraphStore, parts: Sequence[Ints]) -> list[float]:
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
