"""MLflow: settings and curves in its tracking store, by default one on this machine."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from adgcl.core.config import Tree
from adgcl.core.extras import import_extra
from adgcl.core.files import ensure_folder, write_text
from adgcl.trackers.base import TRACKERS, Curves, flat

_EXPERIMENT = "adgcl"
_LONGEST = 500  # characters of a parameter


@TRACKERS.register("mlflow")
class MLflow(Curves):
    """Goes where MLFLOW_TRACKING_URI points; if it is not set, to MLflow's store in the current folder."""

    name = "mlflow"

    def __init__(self, folder: Path, run: str, settings: Tree) -> None:
        super().__init__(folder, run, settings)
        # It would report how it is used to its makers.
        os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
        self.module: Any = import_extra("mlflow", "mlflow", "MLflow")

    def open(self, done: int) -> None:
        self.module.set_experiment(_EXPERIMENT)
        path = self.folder / "mlflow.txt"
        known = path.read_text(encoding="utf-8").strip() if done and path.exists() else None
        # A run that is continued keeps its name: the store finds it by its id.
        self._id = self.module.start_run(run_id=known, run_name=None if known else self.run).info.run_id
        if not known:
            ensure_folder(self.folder)
            write_text(path, self._id)
            self.module.log_params({key: str(value)[:_LONGEST] for key, value in flat(self.settings).items()})

    def log(self, numbers: Mapping[str, float], step: int) -> None:
        self.module.log_metrics(dict(numbers), step=step, run_id=self._id)

    def close(self) -> None:
        self.module.end_run()
