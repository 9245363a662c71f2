"""Faults inside writes: before, during and after, ending the process or failing as a full or broken disk does."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from adgcl.core import files

Point = Literal["before", "during", "before rename", "after rename"]
Kind = Literal["kill", "ENOSPC", "EIO"]
POINTS: tuple[Point, ...] = ("before", "during", "before rename", "after rename")
KINDS: tuple[Kind, ...] = ("kill", "ENOSPC", "EIO")


@dataclass
class Fault:
    """A fault at one point of the write with this number, counted from 1; files that grow by lines count too."""

    point: Point
    kind: Kind
    number: int
    seen: int = 0

    def install(self) -> None:
        """Put the fault into `adgcl.core.files`, for the rest of this process."""
        sweep, sync, replace = files._sweep, files._sync, os.replace

        def before(folder: Path) -> None:
            self.seen += 1
            self._strike("before")
            sweep(folder)

        def during(part: Path) -> None:
            if self._due("during"):
                os.truncate(part, part.stat().st_size // 2)
            self._strike("during")
            sync(part)
            self._strike("before rename")

        def after(source: Any, target: Any) -> None:
            replace(source, target)
            self._strike("after rename")

        # What the functions call is replaced, not the functions: others have imported those by name.
        patched: dict[str, Callable[..., Any]] = {"_sweep": before, "_sync": during, "_append": self._appended}
        for name, function in patched.items():
            setattr(files, name, function)
        os.replace = after  # type: ignore[assignment]

    def _appended(self, path: Path, text: str) -> None:
        self.seen += 1
        self._strike("before")
        with path.open("a", encoding="utf-8") as file:
            file.write(text[: len(text) // 2] if self._due("during") else text)
            file.flush()
            self._strike("during")
        self._strike("after rename")

    def _due(self, point: Point) -> bool:
        return self.seen == self.number and self.point == point

    def _strike(self, point: Point) -> None:
        if not self._due(point):
            return
        self.seen += 1  # once
        if self.kind == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        raise OSError(getattr(errno, self.kind), os.strerror(getattr(errno, self.kind)))
