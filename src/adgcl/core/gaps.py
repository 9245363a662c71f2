"""Gap: why a cell of a table has no number, or fewer seeds than asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Status = Literal[
    "no data", "no labels", "not applicable", "not here", "not run", "out of time", "running elsewhere", "unfinished",
    "failed",
]  # fmt: skip


@dataclass(frozen=True)
class Gap:
    """A status that fits into a cell, and a sentence with the details."""

    status: Status
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.status}: {self.detail}" if self.detail else self.status
