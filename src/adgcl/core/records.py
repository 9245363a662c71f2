"""Record: one result with everything needed to repeat it, as a JSON file."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from adgcl.core.errors import DataError
from adgcl.core.files import write_json

FORMAT = "adgcl-record-1"
_ANY_FORMAT = "adgcl-record-"  # of any version
_FILE_NAME = "*--*--*--*--*.json"  # as `Record.file_name` makes it


@dataclass(frozen=True)
class Record:
    """The evaluation of a method on one data set: the values of every seed, and what produced them.

    `mean`, `std` and `values` are in the metric's printed unit (percent for accuracy and ROC-AUC). `std` is the
    sample standard deviation over seeds, None for one seed.
    """

    dataset: str
    method: str
    mode: str
    protocol: str
    probe: str
    metric: str
    higher_is_better: bool
    mean: float
    std: float | None
    values: list[float]
    seeds: list[int]
    runs: list[dict[str, Any]]
    published: dict[str, Any] | None
    config: dict[str, Any]
    data: dict[str, Any]
    seconds: float
    peak_memory_mb: float
    versions: dict[str, str]
    machine: dict[str, Any]
    command: str = ""
    created: str = ""
    notes: list[str] = field(default_factory=list)
    format: str = FORMAT

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def file_name(self) -> str:
        """A name that says what it is; the digest keeps different settings apart."""
        settings = {k: v for k, v in self.config.items() if k != "training"}
        training = {
            k: v for k, v in self.config.get("training", {}).items() if k in ("epochs", "batch_size", "precision")
        }
        text = json.dumps([settings, training, self.seeds], sort_keys=True)
        digest = hashlib.sha256(text.encode()).hexdigest()[:8]
        return f"{self.dataset}--{self.method}--{self.mode}--{self.protocol}-{self.probe}--{digest}.json"

    def save(self, folder: Path) -> Path:
        path = Path(folder) / self.file_name
        write_json(path, self.to_json())
        return path


def read_record(path: Path) -> Record:
    """Read one Record file."""
    try:
        tree = json.loads(Path(path).read_text(encoding="utf-8"))
        if tree.get("format") != FORMAT:
            raise ValueError(f"format {tree.get('format')!r}")
        return Record(**tree)
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise DataError(
            f"{path} is not a Record of format {FORMAT}: {error}.", "Remove it or create it again."
        ) from error


def read_records(folder: Path) -> list[Record]:
    """Every Record below a folder, ordered by file name; other JSON files are ignored."""
    return [read_record(path) for path in sorted(Path(folder).rglob("*.json")) if is_record(path)]


def is_record(path: Path) -> bool:
    """Whether a JSON file claims to be a Record; run folders hold others. For a truncated file the name decides."""
    try:
        tree = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return path.match(_FILE_NAME)
    return isinstance(tree, dict) and str(tree.get("format", "")).startswith(_ANY_FORMAT)
