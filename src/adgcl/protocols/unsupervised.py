"""The unsupervised protocol: train without labels, freeze, judge the embeddings by a linear or SVM probe."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from adgcl.core.config import Config
from adgcl.core.errors import DataError
from adgcl.core.files import explain_os_errors, write_json
from adgcl.core.provenance import peak_memory_mb
from adgcl.core.seeds import derived_seed
from adgcl.data.dataset import Dataset
from adgcl.methods.base import Method
from adgcl.protocols.probes import ProbeScore, probe_folds, probe_split
from adgcl.protocols.selection import Evaluation, Mode, Selected, select
from adgcl.training.device import one_blas_thread
from adgcl.training.embedding import embed_store
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


@dataclass(frozen=True)
class SeedRun:
    """One seed: every evaluation, what the last epoch's training looked like, and its cost."""

    seed: int
    evaluations: tuple[Evaluation, ...]
    training: dict[str, float] = field(default_factory=dict)
    seconds: float = 0.0
    peak_memory_mb: float = 0.0

    def selected(self, probe: Probe, mode: Mode, higher_is_better: bool) -> Selected:
        return select([e for e in self.evaluations if e.probe == probe], mode, higher_is_better)

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "evaluations": [e.to_json() for e in self.evaluations]}

    @classmethod
    def from_json(cls, tree: dict[str, Any]) -> SeedRun:
        return cls(**{**tree, "evaluations": tuple(map(Evaluation.from_json, tree["evaluations"]))})


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
    place = ("folds", epoch) if config.mode == "as_published" else ("folds",)
    fold_seed = derived_seed(seed, *place) % (1 << 32)
    evaluations = []
    with one_blas_thread():
        for probe in config.probes:
            score: ProbeScore
            if dataset.split is not None:
                score = probe_split(
                    embedding, y, dataset.task, dict(dataset.split), probe=probe, mode=config.mode, seed=fold_seed
                )
            else:
                score = probe_folds(
                    embedding,
                    y,
                    dataset.task,
                    probe=probe,
                    mode=config.mode,
                    seed=fold_seed,
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
    """Train one seed and judge it along the way; a folder makes it resumable and keeps the result."""
    result_path = folder / "result.json" if folder else None
    if result_path is not None and result_path.exists():
        return SeedRun.from_json(json.loads(result_path.read_text()))
    history = _History(folder / "evaluations.jsonl" if folder else None)
    started = time.monotonic()
    files = RunFolder(folder) if folder else None
    trainer = Trainer(
        run, dataset.store, folder=files, trackers=trackers, resume=folder is not None, data=describe_data(dataset)
    )
    history.forget_after(trainer.progress.epoch)
    spent = history.seconds

    def evaluate(method: Method, epoch: int, probes: tuple[Probe, ...]) -> None:
        embedding = embed_store(method, dataset.store)
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
    result = SeedRun(
        run.training.seed,
        tuple(history.evaluations),
        training,
        round(spent + time.monotonic() - started, 2),
        peak_memory_mb(),
    )
    if result_path is not None:
        write_json(result_path, result.to_json())
    return result


class _History:
    """Evaluations so far, kept on disk line by line so that a killed run loses none it has paid for."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.evaluations: list[Evaluation] = []
        self.seconds = 0.0
        self._lines: list[tuple[float, Evaluation]] = []
        for line in path.read_text().splitlines() if path and path.exists() else ():
            try:
                tree = json.loads(line)
            except json.JSONDecodeError:
                break
            self._lines.append((tree.pop("seconds"), Evaluation.from_json(tree)))

    def forget_after(self, epoch: int) -> None:
        """Drop evaluations of epochs that will be trained again."""
        self._lines = [(s, e) for s, e in self._lines if e.epoch <= epoch]
        self.evaluations = [e for _, e in self._lines]
        self.seconds = max((s for s, _ in self._lines), default=0.0)
        if self.path is not None and self.path.exists():
            self.path.write_text("".join(_line(s, e) for s, e in self._lines))

    def add(self, evaluations: list[Evaluation], seconds: float) -> None:
        self.evaluations.extend(evaluations)
        if self.path is not None:
            with explain_os_errors(self.path), self.path.open("a", encoding="utf-8") as file:
                file.writelines(_line(round(seconds, 2), e) for e in evaluations)


def _line(seconds: float, evaluation: Evaluation) -> str:
    return json.dumps({"seconds": seconds, **evaluation.to_json()}) + "\n"
