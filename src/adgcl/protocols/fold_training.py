"""Training with labels on one part of the data after another, with evaluations; it can be resumed fold by fold."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from math import isnan, nan
from pathlib import Path
from typing import Any, Literal

import numpy as np

from adgcl.core.provenance import peak_memory_mb
from adgcl.core.schema import Task
from adgcl.core.seeds import derived_seed
from adgcl.data.dataset import Dataset
from adgcl.graphs.store.batch import GraphBatch
from adgcl.graphs.store.store import GraphStore
from adgcl.methods.supervised import Supervised
from adgcl.protocols.parts import Part, score_part
from adgcl.protocols.probes.selection import mean_defined
from adgcl.protocols.seed_run import History, SeedRun, last_metrics
from adgcl.protocols.selection import Evaluation
from adgcl.protocols.solvers.arrays import Floats, Ints
from adgcl.training.run_config import RunConfig
from adgcl.training.run_folder import RunFolder
from adgcl.training.runs import describe_data
from adgcl.training.trackers import StepReport, Tracker, tell, tell_scores
from adgcl.training.trainer import Trainer

HEAD = "head"
Rule = Literal["best_validation", "last_epoch"]
_BATCH = 128
# Batches with so many edges take about 200 MB.
_KEPT_EDGES = 1 << 22


@dataclass(frozen=True)
class Course:
    """How often a model is evaluated, after how many epochs without a better validation score it stops (0: never),
    and which epoch counts."""

    every: int = 1
    patience: int = 0
    rule: Rule = "best_validation"

    def counting(self, evaluations: Sequence[Evaluation], higher_is_better: bool) -> Evaluation:
        """The evaluation that counts so far: the first best on validation data, or the last one."""
        known = [e for e in evaluations if not isnan(e.valid)]
        if self.rule == "last_epoch" or not known:
            return evaluations[-1]
        return (max if higher_is_better else min)(known, key=lambda e: e.valid)

    def is_over(self, evaluations: Sequence[Evaluation], higher_is_better: bool) -> bool:
        """Whether patience has run out."""
        if not self.patience or not evaluations:
            return False
        best = replace(self, rule="best_validation").counting(evaluations, higher_is_better)
        return evaluations[-1].epoch - best.epoch >= self.patience


def network_seed(seed: int, fold: int = 0) -> int:
    """What decides the random numbers of a fold's network: models and estimators train the one that is evaluated."""
    return derived_seed(seed, "fold", fold)


def train_folds(
    dataset: Dataset,
    parts: Sequence[Part],
    run: RunConfig,
    course: Course,
    folder: Path | None = None,
    trackers: Sequence[Tracker] = (),
    same_start: bool = False,
) -> SeedRun:
    """Train and evaluate a fresh model on every part; finished ones come from `folder`, and one in progress resumes.

    Every fold has its own order of graphs and its own noise. Its first weights are its own too, unless `same_start`.
    """
    seed, data = run.training.seed, describe_data(dataset)
    tracker = OneRun(trackers, len(parts))
    folds = []
    try:
        for k, part in enumerate(parts):
            tracker.fold = k
            own = run.with_training(seed=network_seed(seed, k))
            place = folder / f"fold-{k}" if folder else None
            first = seed if same_start else None
            folds.append(train_fold(dataset.store, part, own, course, place, tracker, data, networks_seed=first))
            if len(parts) > 1:
                best = [course.counting(fold.evaluations, dataset.task.higher_is_better).valid for fold in folds]
                tell_scores(trackers, len(folds), {HEAD: float(mean_defined(np.array(best), 0))})
    finally:
        tracker.close()
    names = {name for fold in folds for name in fold.training}
    training = {name: float(np.mean([fold.training[name] for fold in folds])) for name in sorted(names)}
    seconds = round(sum(fold.seconds for fold in folds), 2)
    result = SeedRun(seed, _side_by_side(folds), training, seconds, peak_memory_mb())
    result.save(folder)
    return result


def train_fold(
    store: GraphStore,
    part: Part,
    run: RunConfig,
    course: Course,
    folder: Path | None,
    tracker: Tracker,
    data: dict[str, Any],
    keep: Callable[[Trainer], None] | None = None,
    networks_seed: int | None = None,
) -> SeedRun:
    """Train one model on a part and evaluate it along the way; `keep` is called whenever an epoch counts so far."""
    finished = SeedRun.load(folder)
    if finished is not None:
        return finished
    started, history = time.monotonic(), History(folder)
    files = RunFolder(folder) if folder else None
    train, higher = store.select(part.train), store.task.higher_is_better
    resume = folder is not None
    trainer = Trainer(
        run, train, folder=files, trackers=[tracker], resume=resume, data=data, networks_seed=networks_seed
    )
    assert isinstance(trainer.method, Supervised)
    method, batches = trainer.method, KeptBatches(store)
    history.forget_after(trainer.position.epoch)
    spent = history.seconds

    def evaluate(epoch: int) -> None:
        valid, test = part_scores(method, store, (part.valid, part.test), batches)
        seconds = spent + time.monotonic() - started
        history.add([Evaluation(epoch, HEAD, valid, test, (valid,), (test,), ())], seconds)
        tell_scores([tracker], epoch, {HEAD: valid})
        if keep is not None and course.counting(history.evaluations, higher).epoch == epoch:
            keep(trainer)

    def after_epoch(epoch: int) -> bool:
        if epoch % course.every == 0 or epoch == run.training.epochs:
            evaluate(epoch)
        return course.is_over(history.evaluations, higher)

    if not course.is_over(history.evaluations, higher):
        trainer.fit(after_epoch)
    if not history.evaluations:
        evaluate(trainer.position.epoch)
    seconds = round(spent + time.monotonic() - started, 2)
    result = SeedRun(run.training.seed, tuple(history.evaluations), last_metrics(trainer), seconds, peak_memory_mb())
    result.save(folder)
    return result


class KeptBatches:
    """Batches of the same graphs epoch after epoch, and with them what encoders have found out about their nodes.

    They are kept while they are small together, and else made anew every time.
    """

    def __init__(self, store: GraphStore) -> None:
        self.store, self.kept, self.edges = store, dict[bytes, GraphBatch](), 0

    def __call__(self, ids: Ints) -> GraphBatch:
        if (known := self.kept.get(ids.tobytes())) is not None:
            return known
        batch = self.store.batch(ids)
        if self.edges + batch.num_edges <= _KEPT_EDGES:
            self.kept[ids.tobytes()] = batch
            self.edges += batch.num_edges
        return batch


def part_scores(
    method: Supervised, store: GraphStore, parts: Sequence[Ints], batches: KeptBatches | None = None
) -> list[float]:
    """The task's metric on each part; NaN where it is undefined. A graph that is in several parts is computed once."""
    make = store.batch if batches is None else batches
    ids, place = np.unique(np.concatenate(parts), return_inverse=True)
    if not len(ids):
        return [nan] * len(parts)
    device = method.target_mean.device
    chunks = [ids[start : start + _BATCH] for start in range(0, len(ids), _BATCH)]
    outputs = np.concatenate([method.predict(make(chunk).to(device)).cpu().numpy() for chunk in chunks])
    rows = scorable(outputs.astype(np.float64), store.task)[place]
    predicted = np.split(rows, np.cumsum([len(p) for p in parts])[:-1])
    assert store.y is not None
    return [
        score_part(store.task, store.y[part], rows) if len(part) else nan
        for part, rows in zip(parts, predicted, strict=True)
    ]


def scorable(outputs: Floats, task: Task, border: float = 0.0) -> Floats:
    """Outputs as the metrics need them: class numbers for accuracy, else logits or values as they are."""
    if task.kind == "multiclass":
        return outputs.argmax(1)[:, None].astype(np.float64)
    return (outputs > border).astype(np.float64) if task.metric == "accuracy" else outputs


def _side_by_side(folds: Sequence[SeedRun]) -> tuple[Evaluation, ...]:
    """The evaluations of all folds, epoch by epoch; a fold that stopped early stays as it was."""
    merged = []
    last: list[Evaluation] = [fold.evaluations[0] for fold in folds]
    for row in zip_longest(*(fold.evaluations for fold in folds)):
        last = [now or before for now, before in zip(row, last)]
        valid, test = tuple(e.valid for e in last), tuple(e.test for e in last)
        mean_valid, mean_test = (float(mean_defined(np.array(scores), 0)) for scores in (valid, test))
        merged.append(Evaluation(max(e.epoch for e in last), HEAD, mean_valid, mean_test, valid, test, ()))
    return tuple(merged)


class OneRun:
    """Shows models that are trained one after another to the trackers as one long run."""

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

    def note(self, text: str) -> None:
        tell(self.trackers, text)

    def evaluated(self, step: int, scores: Mapping[str, float]) -> None:
        """The score of one of several models says little about the run; that of the only one says all."""
        if self.folds == 1:
            tell_scores(self.trackers, step, scores)

    def stop(self) -> None:
        """One model's Trainer stops; the run continues."""

    def close(self) -> None:
        for tracker in self.trackers if self.started else ():
            tracker.stop()
