"""Jobs that sleep instead of training, so that only the clock decides what happens to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from adgcl.experiments.jobs import Job
from tests.slurm.sleeping import nap


@dataclass(eq=False)
class Naps(Job):
    """One nap after another, until it has been woken in the middle; whoever continues goes on from there."""

    @property
    def call(self) -> tuple[Any, ...]:
        return nap, self.folder
