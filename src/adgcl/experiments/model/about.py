"""The schema of `model.json`: everything that the code behind relies on, checked before a model is used."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from adgcl.core.schema import Task
from adgcl.core.trees import TreeError, fitted

DOMAIN = "domain.safetensors"
# A file of the model is in its folder, never elsewhere.
PlainName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-][A-Za-z0-9._-]*$", max_length=100)]
Score = float | None


class _Part(BaseModel):
    model_config = ConfigDict(allow_inf_nan=False)


class _Member(_Part):
    name: str
    file: PlainName
    epoch: int
    valid: Score
    test: Score


class _Together(_Part):
    valid: Score
    test: Score


class _Domain(_Part):
    border: float = Field(gt=0)


class _Coverage(_Part):
    coverage: float | None
    labels: int
    mean_width: float = 0.0


class _Brier(_Part):
    brier_before: float
    brier_after: float


class _Calibration(_Part):
    checked: _Brier | list[_Coverage]
    probabilities: list[dict[str, Any]] = []
    intervals: list[dict[str, Any]] = []


class _About(_Part):
    format: str
    task: dict[str, Any]
    labels: list[str]
    classes: list[str]
    unit: str
    metric: str
    split: str
    mixtures: int = 0
    started_from: dict[str, Any] | None
    members: list[_Member] = Field(min_length=1)
    together: _Together
    calibration: _Calibration
    domain: _Domain
    files: dict[PlainName, str]
    request: dict[str, Any]


def check_about(tree: Any) -> None:
    """Raise a TreeError unless a tree is what `adgcl finetune` writes."""
    about = fitted(_About, tree)
    task = Task.from_json(about.task)
    columns = 1 if task.kind == "multiclass" else task.num_tasks
    classes = task.num_classes if task.kind == "multiclass" else 0
    if (len(about.labels), len(about.classes)) != (columns, classes):
        raise TreeError(f"{len(about.labels)} labels and {len(about.classes)} classes for {columns} and {classes}")
    maps = about.calibration.intervals if task.kind == "regression" else about.calibration.probabilities
    if len(maps) != columns:
        raise TreeError(f"{len(maps)} calibrations for {columns} labels")
    if {DOMAIN, *(member.file for member in about.members)} - about.files.keys():
        raise TreeError("a file that has no seal")
