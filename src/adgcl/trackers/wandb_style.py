"""Weights & Biases, and what has the same interface: `init`, `log` and `finish`."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from adgcl.core.config import Tree
from adgcl.core.extras import import_extra
from adgcl.core.files import ensure_folder, write_text
from adgcl.trackers.base import TRACKERS, Curves

_PROJECT = "adgcl"


class WandbStyle(Curves):
    """A run of a program with the interface of Weights & Biases."""

    module: Any
    _run: Any

    def options(self) -> dict[str, Any]:
        """What `init` gets besides project, name and settings."""
        return {}

    def open(self, done: int) -> None:
        self._run = self.module.init(project=_PROJECT, name=self.run, config=self.settings, **self.options())

    def log(self, numbers: Mapping[str, float], step: int) -> None:
        self._run.log(dict(numbers), step=step)

    def close(self) -> None:
        # Of the module, not of the run: Trackio would otherwise finish it once more when Python ends.
        self.module.finish()


@TRACKERS.register("wandb")
class Wandb(WandbStyle):
    """Kept in `RUN/wandb`, offline unless WANDB_MODE says otherwise; `wandb sync` uploads it later."""

    name = "wandb"

    def __init__(self, folder: Path, run: str, settings: Tree) -> None:
        super().__init__(folder, run, settings)
        # It would report errors of its own to its makers, also when it is offline.
        os.environ.setdefault("WANDB_ERROR_REPORTING", "false")
        self.module = import_extra("wandb", "wandb", "Weights & Biases")

    def options(self) -> dict[str, Any]:
        mode = os.environ.get("WANDB_MODE", "offline")
        return {"dir": str(ensure_folder(self.folder)), "id": self._id(), "resume": "allow", "mode": mode}

    def _id(self) -> str:
        """The name by which a resumed run finds its curves."""
        path = ensure_folder(self.folder / "wandb") / "id.txt"
        if not path.exists():
            write_text(path, secrets.token_hex(4))
        return path.read_text(encoding="utf-8").strip()


@TRACKERS.register("trackio")
class Trackio(WandbStyle):
    """Kept in Trackio's own folder on this machine, unless TRACKIO_SPACE_ID names a place elsewhere."""

    name = "trackio"

    def __init__(self, folder: Path, run: str, settings: Tree) -> None:
        super().__init__(folder, run, settings)
        os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
        self.module = import_extra("trackio", "trackio", "Trackio")

    def options(self) -> dict[str, Any]:
        return {"resume": "allow"}
