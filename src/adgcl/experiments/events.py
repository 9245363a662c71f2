"""Events: what happens to jobs while a table runs, for whoever looks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from adgcl.experiments.jobs import Job


@dataclass(frozen=True)
class Event:
    """Something happened to a job: `started`, `progress`, `finished`, `reused`, `put back`, or a `gap`."""

    kind: str
    job: Job
    content: Any = None
