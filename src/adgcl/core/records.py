"""Record: one result with everything needed to repeat it, as a JSON file."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict

from adgcl.core.errors import DataError
from adgcl.core.files import write_json
from adgcl.core.safe_text import file_name
from adgcl.core.trees import SCHEMA, TreeError, fitted, read_json

FORMAT = "adgcl-record-1"
_ANY_FORMAT = "adgcl-record-"  # of any version
_FILE_NAME = "*--*--*--*--*.json"  # as `Record.file_name` makes it
# What is read stays as it is in the file, so a number written as text is not one.
_AS_IT_IS = ConfigDict(strict=True, allow_inf_nan=False)


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

    __pydantic_config__: ClassVar = SCHEMA

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def file_name(self) -> str:
        """A name that says what it is; the digest keeps different settings apart."""
        settings = {k: v for k, v in self.config.items() if k != "training"}
        training = {
            k: v for k, v in self.config.get("training", {}).items() if k in ("epochs", "batch_size", "precision")
        }
        split = self.data.get("split")
        text = json.dumps([settings, training, self.seeds, *([split] if split else [])], sort_keys=True)
        digest = hashlib.sha256(text.encode()).hexdigest()[:8]
        return f"{self.cell_name}--{digest}.json"

    @property
    def cell_name(self) -> str:
        """The part of the name that all Records of one cell of a table share."""
        dataset, method, mode, protocol, probe = map(
            file_name, (self.dataset, self.method, self.mode, self.protocol, self.probe)
        )
        return f"{dataset}--{method}--{mode}--{protocol}-{probe}"

    def save(self, folder: Path) -> Path:
        path = Path(folder) / self.file_name
        write_json(path, self.to_json())
        return path


class _Figure(BaseModel):
    """The part of `Record.published` that reports read."""

    model_config = _AS_IT_IS

    table: str
    method: str
    mean: float
    std: float | None = None


class _SeedRow(BaseModel):
    """The part of each of `Record.runs` that reports read."""

    model_config = _AS_IT_IS

    seed: int
    folds: list[float | None] = []


class _Inside(BaseModel):
    """What must hold inside the parts of a Record that its own fields leave open."""

    model_config = _AS_IT_IS

    published: _Figure | None
    runs: list[_SeedRow]
    config: dict[str, dict[str, Any]]
    data: dict[str, str | int | None]
    machine: dict[str, str | int]


def read_record(path: Path) -> Record:
    """Read one Record file."""
    try:
        tree = fitted(dict[str, Any], read_json(path))
        if tree.get("format") != FORMAT:
            raise TreeError(f"format {tree.get('format')!r}")
        record = fitted(Record, tree)
        fitted(_Inside, {name: tree[name] for name in _Inside.model_fields})
        if not len(record.seeds) == len(record.values) > 0 or len(record.runs) not in (0, len(record.seeds)):
            raise TreeError(f"{len(record.values)} values and {len(record.runs)} runs of {len(record.seeds)} seeds")
        return record
    except (OSError, TreeError) as error:
        raise DataError(
            f"{path} is not a Record of format {FORMAT}: {error}.", "Remove it or create it again."
        ) from error


def read_records(folder: Path) -> list[Record]:
    """Every Record below a folder, ordered by file name; other JSON files are ignored."""
    return [read_record(path) for path in sorted(Path(folder).rglob("*.json")) if is_record(path)]


def is_record(path: Path) -> bool:
    """Whether a JSON file claims to be a Record; run folders hold others. For a truncated file the name decides."""
    try:
        tree = read_json(path)
    except (OSError, TreeError):
        return path.match(_FILE_NAME)
    return isinstance(tree, dict) and str(tree.get("format", "")).startswith(_ANY_FORMAT)
