"""One seed's evaluations: as a result, and as a file that grows while the seed runs."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

from adgcl.core.files import append_text, write_json, write_text
from adgcl.core.trees import SCHEMA, TreeError, fitted, read_json, read_json_lines
from adgcl.protocols.selection import Evaluation, Mode, Selected, select
from adgcl.training.trainer import Trainer


@dataclass(frozen=True)
class SeedRun:
    """One seed: every evaluation, what the last epoch's training looked like, and its cost."""

    seed: int
    evaluations: tuple[Evaluation, ...]
    training: dict[str, float] = field(default_factory=dict)
    seconds: float = 0.0
    peak_memory_mb: float = 0.0
    # By which step it was trained, plain or compiled; results of earlier versions are all plain.
    step: str = "plain"

    __pydantic_config__: ClassVar = SCHEMA

    def selected(self, probe: str, mode: Mode, higher_is_better: bool) -> Selected:
        return select([e for e in self.evaluations if e.probe == probe], mode, higher_is_better)

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "evaluations": [e.to_json() for e in self.evaluations]}

    @classmethod
    def from_json(cls, tree: Any) -> SeedRun:
        """What `to_json` gave, checked."""
        known = fitted(dict[str, Any], tree)
        evaluations = fitted(list[Any], known.pop("evaluations", None))
        seed = fitted(cls, {**known, "evaluations": ()})
        return replace(seed, evaluations=tuple(map(Evaluation.from_json, evaluations)))

    def save(self, folder: Path | None) -> None:
        """Save it: a seed with a result is never run again."""
        if folder is not None:
            write_json(folder / _RESULT, self.to_json())

    @classmethod
    def load(cls, folder: Path | None) -> SeedRun | None:
        """What `save` wrote, or None; what cannot be read does not count, so that the seed runs again."""
        with suppress(OSError, TreeError):
            return cls.from_json(read_json(folder / _RESULT)) if folder else None
        return None


_RESULT = "result.json"


class History:
    """Evaluations so far, kept on disk line by line so that a killed run loses none of them."""

    def __init__(self, folder: Path | None) -> None:
        self.path = folder / "evaluations.jsonl" if folder else None
        self.evaluations: list[Evaluation] = []
        self.seconds = 0.0
        self._lines: list[tuple[float, Evaluation]] = []
        with suppress(OSError, TreeError):
            for tree in read_json_lines(self.path) if self.path else ():
                line = fitted(dict[str, Any], tree)
                self._lines.append((fitted(float, line.pop("seconds", None)), Evaluation.from_json(line)))

    def forget_after(self, epoch: int) -> None:
        """Drop evaluations of epochs that will be trained again."""
        self._lines = [(s, e) for s, e in self._lines if e.epoch <= epoch]
        self.evaluations = [e for _, e in self._lines]
        self.seconds = max((s for s, _ in self._lines), default=0.0)
        if self.path is not None and self.path.exists():
            write_text(self.path, "".join(_line(s, e) for s, e in self._lines))

    def add(self, evaluations: list[Evaluation], seconds: float) -> None:
        self.evaluations.extend(evaluations)
        if self.path is not None:
            append_text(self.path, "".join(_line(round(seconds, 2), e) for e in evaluations))


def _line(seconds: float, evaluation: Evaluation) -> str:
    return json.dumps({"seconds": seconds, **evaluation.to_json()}) + "\n"


def last_metrics(trainer: Trainer) -> dict[str, float]:
    """The last epoch's metrics that the method declares worth keeping; none if the run has no folder."""
    rows = trainer.folder.read_metrics() if trainer.folder else []
    kept = type(trainer.method).kept(trainer.config.method)
    return {name: float(rows[-1][name]) for name in kept if name in rows[-1]} if rows else {}
