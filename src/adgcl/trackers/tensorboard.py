"""TensorBoard: curves as event files in the run folder, which `tensorboard --logdir` shows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from adgcl.core.config import Tree
from adgcl.core.extras import import_extra
from adgcl.trackers.base import TRACKERS, Curves


@TRACKERS.register("tensorboard")
class TensorBoard(Curves):
    """Event files in `RUN/tensorboard`; nothing leaves the machine."""

    name = "tensorboard"

    def __init__(self, folder: Path, run: str, settings: Tree) -> None:
        super().__init__(folder, run, settings)
        import_extra("tensorboard", "tensorboard", "TensorBoard")
        self._writer: Any = None

    def open(self, done: int) -> None:
        from torch.utils.tensorboard import SummaryWriter

        # What came after the checkpoint that a run continues from will be written again.
        self._writer = SummaryWriter(str(self.folder / self.name), purge_step=done + 1 if done else None)
        self._writer.add_text("settings", f"```json\n{json.dumps(self.settings, indent=2)}\n```", done)

    def log(self, numbers: Mapping[str, float], step: int) -> None:
        for name, value in numbers.items():
            self._writer.add_scalar(name, value, step)

    def close(self) -> None:
        self._writer.close()
