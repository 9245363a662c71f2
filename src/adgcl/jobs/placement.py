"""Placement: where the jobs of a command run, as its user says it: an executor, its settings, how many at a time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from adgcl.core.config import build, parse_overrides
from adgcl.jobs.executor import EXECUTORS, Executor, ExecutorConfig

_SECTION = "executor"


@dataclass(frozen=True)
class Placement:
    """An executor by name, jobs at a time (by default as many as fit), and `key=value` settings of the executor."""

    executor: str = "processes"
    jobs: int | None = None
    settings: tuple[str, ...] = ()

    @property
    def kind(self) -> type[Executor]:
        return EXECUTORS[self.executor]

    @property
    def config(self) -> ExecutorConfig:
        """The checked settings."""
        tree = parse_overrides(self.settings, {_SECTION: self.kind.Config})
        return build(self.kind.Config, tree.get(_SECTION, {}), _SECTION)

    @property
    def workers(self) -> int:
        """How many jobs run at a time if there are enough of them."""
        return self.jobs or self.kind.capacity(self.config)

    @property
    def threads(self) -> int:
        """Threads of each job; 0 leaves it to the job."""
        return self.kind.threads(self.config, self.workers)

    def open(self, jobs: int, folder: Path) -> Executor:
        """The executor for some jobs that keep their state below `folder`: no more workers than there is work for."""
        return self.kind(max(min(self.workers, jobs), 1), self.config, folder)
