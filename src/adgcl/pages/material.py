"""What a report is made from: runs, models and Records in the folders that a user names."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from adgcl.core.errors import AdgclError, DataError
from adgcl.core.records import Record, read_records
from adgcl.data.dataset import IN_MEMORY
from adgcl.experiments.model.folder import ABOUT, read_about
from adgcl.reports.folders import is_run_folder
from adgcl.training.checkpoints import Checkpoint, load_checkpoint
from adgcl.training.run_folder import RunFolder


@dataclass(frozen=True, eq=False)
class Run:
    """A run folder and what its checkpoint says."""

    path: Path
    checkpoint: Checkpoint

    @property
    def data(self) -> str:
        """What it was trained on, by name."""
        return str(self.checkpoint.data.get("name", ""))

    @property
    def source(self) -> str:
        """Where that is read from: a known set's name, or the path of the user's own; empty for graphs in memory."""
        about = self.checkpoint.data
        name, source, family = (str(about.get(key, "")) for key in ("name", "source", "family"))
        if family in ("own", "packed") or (source and Path(source).exists()):
            return "" if source == IN_MEMORY else source
        return name


@dataclass(frozen=True, eq=False)
class Material:
    """Everything that was found, in the order of the folders."""

    runs: list[Run] = field(default_factory=list)
    models: list[tuple[Path, dict[str, Any]]] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)

    @property
    def title(self) -> str:
        names = [run.path.resolve().name for run in self.runs] + [path.resolve().name for path, _ in self.models]
        return f"Report on {' and '.join(names)}" if names else "adgcl results"


def gather(places: Sequence[Path]) -> Material:
    """Look into every folder; an error says where nothing was found."""
    found = Material()
    for place in places:
        before = len(found.runs) + len(found.models) + len(found.records)
        if not place.is_dir():
            raise DataError(f"There is no folder {place}.", "Give a run, a model, or a folder of Records.")
        if (place / ABOUT).exists():
            found.models.append((place, read_about(place)))
        elif is_run_folder(place) or RunFolder(place).checkpoint.exists():
            found.runs.append(Run(place, load_checkpoint(RunFolder(place).checkpoint)))
        found.records.extend(read_records(place))
        if before == len(found.runs) + len(found.models) + len(found.records):
            raise DataError(
                f"There is no run, model or Record in {place}.",
                "Make one with `adgcl pretrain`, `adgcl finetune` or `adgcl evaluate --out results`.",
            )
    return found


def settings_text(config: dict[str, Any]) -> str:
    """Settings as JSON, readable."""
    return json.dumps(config, indent=2)


def why(error: AdgclError) -> str:
    """An error as a remark on a page."""
    return f"{error.message} {error.hint or ''}".strip()
