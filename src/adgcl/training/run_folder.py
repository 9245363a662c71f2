"""A run folder: the configuration, the checkpoint and the metrics of one run."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from adgcl.core.errors import OutputError
from adgcl.core.files import append_text, ensure_folder, write_json, write_text
from adgcl.core.trees import TreeError, fitted, read_json_lines
from adgcl.training.run_config import RunConfig


class _Metrics(BaseModel):
    """One line of metrics: what was measured in an epoch."""

    model_config = ConfigDict(extra="allow", allow_inf_nan=False)
    __pydantic_extra__: dict[str, float]
    epoch: int


@dataclass(frozen=True)
class RunFolder:
    """Where a run keeps its files."""

    path: Path

    @property
    def checkpoint(self) -> Path:
        return self.path / "checkpoint.safetensors"

    @property
    def metrics(self) -> Path:
        return self.path / "metrics.jsonl"

    def snapshot(self, epoch: int) -> Path:
        """The networks after an epoch, where they were asked to be kept."""
        return self.path / "snapshots" / f"epoch-{epoch}.safetensors"

    @property
    def config(self) -> Path:
        return self.path / "config.json"

    def create(self, config: RunConfig, resume: bool) -> None:
        """Make the folder; refuse to overwrite a run unless it is to be resumed."""
        self.refuse_to_overwrite(resume)
        ensure_folder(self.path)
        write_json(self.config, config.to_tree())
        if not self.checkpoint.exists():
            # Left by a run that was killed before it saved anything: its epochs will run again.
            self.metrics.unlink(missing_ok=True)

    def refuse_to_overwrite(self, resume: bool) -> None:
        """An error if the folder holds a run that is not being resumed."""
        if self.checkpoint.exists() and not resume:
            raise OutputError(
                f"{self.path} already holds a run.",
                "Add --resume to continue it, or choose another folder with --out.",
            )

    def append_metrics(self, row: dict[str, Any]) -> None:
        append_text(self.metrics, json.dumps(row) + "\n")

    def keep_metrics_before(self, epoch: int) -> None:
        """Forget the rows of epochs that will run again."""
        if self.metrics.exists():
            kept = [row for row in self.read_metrics() if row["epoch"] <= epoch]
            write_text(self.metrics, "".join(json.dumps(row) + "\n" for row in kept))

    def read_metrics(self) -> list[dict[str, Any]]:
        """Every finished epoch's metrics; a line cut off by a crash is left out."""
        rows: list[dict[str, Any]] = []
        with suppress(FileNotFoundError, TreeError):
            for tree in read_json_lines(self.metrics):
                rows.append(dict(fitted(_Metrics, tree)))
        return rows
