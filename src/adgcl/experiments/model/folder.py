"""A model folder: the members, what is known about their predictions, and seals that show any change."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.numpy import load_file, save

from adgcl.core.errors import CheckpointError
from adgcl.core.files import write_bytes, write_json
from adgcl.core.schema import FeatureSpec, Task
from adgcl.core.trees import TreeError, fitted, read_json
from adgcl.experiments.model.about import DOMAIN, check_about
from adgcl.experiments.model.calibration import Calibration
from adgcl.experiments.model.conformal import Intervals
from adgcl.experiments.model.domain import Domain
from adgcl.methods.supervised import Supervised
from adgcl.training.checkpoints import load_checkpoint
from adgcl.training.device import keep_freed_memory, pick_device, set_threads
from adgcl.training.packaged import packaged_encoders
from adgcl.training.run_config import RunConfig
from adgcl.training.run_folder import RunFolder

FORMAT = "adgcl-model-1"
ABOUT = "model.json"
# The folder of unfinished members; it goes when the model is finished.
WORK = "training"


@dataclass(frozen=True, eq=False)
class Model:
    """A model that is open for use; `about` is what `model.json` says."""

    path: Path
    about: dict[str, Any]
    members: tuple[Supervised, ...]
    config: RunConfig
    domain: Domain
    calibrations: tuple[Calibration, ...]
    intervals: tuple[Intervals, ...]

    @property
    def task(self) -> Task:
        return self.members[0].task

    @property
    def spec(self) -> FeatureSpec:
        return self.members[0].spec

    @property
    def labels(self) -> list[str]:
        return list(self.about["labels"])


def member_file(number: int) -> str:
    return f"member-{number}.safetensors"


def save_domain(folder: Path, domain: Domain) -> None:
    tensors: dict[str, Any] = {"rows": domain.rows, "centre": domain.centre, "scale": domain.scale}
    write_bytes(folder / DOMAIN, save(tensors))


def seal(folder: Path, about: dict[str, Any], files: list[str]) -> dict[str, Any]:
    """Write `model.json` with the checksum of every file and one of itself: the last step of making a model."""
    tree = {"format": FORMAT, **about, "files": {name: _checksum(folder / name) for name in files}}
    tree = json.loads(json.dumps(tree))
    write_json(folder / ABOUT, {**tree, "seal": _seal(tree)})
    return tree


def read_about(folder: Path) -> dict[str, Any]:
    """What `model.json` says, once it is known to be as it was written."""
    path = Path(folder) / ABOUT
    if not path.exists():
        raise _no_model(path.parent)
    try:
        tree = fitted(dict[str, Any], read_json(path))
    except (OSError, TreeError) as error:
        raise _damaged(path, error) from error
    found, version, mark = tree.get("format"), tree.get("version"), tree.pop("seal", None)
    if found is None:
        raise _damaged(path, "it has no format")
    if found != FORMAT:
        raise CheckpointError(
            f"{folder} has model format {found!r}, written by adgcl {version or 'of an unknown version'}; this version "
            f"reads {FORMAT!r}.",
            f"Use the version of adgcl that wrote it, or {_AGAIN}",
        )
    if mark != _seal(tree):
        raise CheckpointError(f"{path} was changed after it was written.", _ADVICE)
    try:
        check_about(tree)
    except TreeError as error:
        raise _damaged(path, error) from error
    return tree


def check_files(folder: Path, about: dict[str, Any]) -> None:
    """Refuse a folder whose files are not those that were sealed."""
    for name, known in about["files"].items():
        if not (folder / name).exists():
            raise CheckpointError(f"{folder} has lost its file {name}.", _ADVICE)
        if _checksum(folder / name) != known:
            raise CheckpointError(f"{folder / name} was changed after it was written.", _ADVICE)


def open_model(folder: str | Path, device: str = "auto") -> Model:
    """Open a model folder; one that was edited, or that another version wrote, is refused with the reason."""
    folder = Path(folder)
    about = read_about(folder)
    check_files(folder, about)
    checkpoints = [load_checkpoint(folder / member["file"]) for member in about["members"]]
    first, task = checkpoints[0], Task.from_json(about["task"])
    if any((other.spec, other.task) != (first.spec, task) for other in checkpoints):
        raise _damaged(folder, "its members do not belong together")
    keep_freed_memory()
    set_threads(0, first.config.encoder.hidden_dim)
    members = tuple(_opened(folder, checkpoint.make_method(pick_device(device))) for checkpoint in checkpoints)
    try:
        return Model(
            folder,
            about,
            members,
            first.config,
            _open_domain(folder, about["domain"]["border"], members[0].width),
            tuple(map(Calibration.from_json, about["calibration"].get("probabilities", ()))),
            tuple(map(Intervals.from_json, about["calibration"].get("intervals", ()))),
        )
    except TreeError as error:
        raise _damaged(folder / ABOUT, error) from error


def begun(folder: Path) -> bool:
    """Whether a member has left anything; a command that was refused before training has not."""
    return any(path.is_file() and path.parent.name != WORK for path in (folder / WORK).glob("**/[!.]*"))


def _no_model(folder: Path) -> CheckpointError:
    """What is there in place of a model."""
    if begun(folder):
        return CheckpointError(
            f"The model in {folder} is not finished.", "Run the `adgcl finetune` command that makes it once more."
        )
    if RunFolder(folder).checkpoint.exists() or str(folder) in packaged_encoders() or folder.is_file():
        return CheckpointError(
            f"{folder} is no model that predicts.",
            f"If it is an encoder, fine-tune it first: `adgcl finetune {folder} DATA --label-column NAME --out MODEL`.",
        )
    what = f"There is no model in {folder}." if folder.is_dir() else f"There is no folder {folder}."
    return CheckpointError(what, "Give the folder that `adgcl finetune --out` made.")


_AGAIN = "remove the folder and fine-tune again."
_ADVICE = f"Restore the folder from a copy, or {_AGAIN}"


def _damaged(path: Path, what: object) -> CheckpointError:
    return CheckpointError(f"{path} is damaged; it is not what `adgcl finetune` writes: {what}.", _ADVICE)


def _opened(folder: Path, method: torch.nn.Module) -> Supervised:
    if not isinstance(method, Supervised):
        raise _damaged(folder, "a member that was not trained with labels")
    return method


def _open_domain(folder: Path, border: float, width: int) -> Domain:
    path = folder / DOMAIN
    try:
        tensors = load_file(path)
        rows, centre, scale = (tensors[name] for name in ("rows", "centre", "scale"))
    except (OSError, KeyError, SafetensorError, TypeError) as error:
        raise CheckpointError(f"{path} cannot be read: {error}.", _ADVICE) from error
    fits = rows.ndim == 2 and len(rows) and rows.shape[1:] == centre.shape == scale.shape == (width,)
    if not fits or not all(array.dtype.kind == "f" and np.isfinite(array).all() for array in (rows, centre, scale)):
        raise _damaged(path, "its arrays do not fit together")
    return Domain(rows, centre, scale, border)


def _checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _seal(tree: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(tree, sort_keys=True).encode()).hexdigest()
