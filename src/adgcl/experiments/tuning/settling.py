"""What a search will be about: the request, its data, where it starts, and its ranges; nothing is begun yet."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adgcl.core.errors import ConfigError
from adgcl.core.ranges import Range
from adgcl.experiments.jobs import Job
from adgcl.experiments.planning import Plan, Request
from adgcl.experiments.source import Source
from adgcl.experiments.tuning.development import Development
from adgcl.experiments.tuning.sampler import Values
from adgcl.experiments.tuning.space import make_space, value_at
from adgcl.experiments.tuning.storage import import_optuna

PRUNERS = ("median", "hyperband", "none")


@dataclass(frozen=True)
class SearchRequest:
    """What is searched, on which data, how, and where it is kept; every process of a search gets the same."""

    source: Source
    request: Request
    trials: int
    out: Path
    searched: tuple[str, ...] = ()
    seed: int = 0
    pruner: str = "median"
    storage: str = ""
    study: str = "adgcl"
    work: Path = Path("runs")
    command: str = ""

    def __post_init__(self) -> None:
        if self.trials < 1:
            raise ConfigError(f"A search needs at least one trial, not {self.trials}.", "Say --trials 20.")
        if self.pruner not in PRUNERS:
            raise ConfigError(f"There is no pruner called {self.pruner!r}.", f"Use {', '.join(PRUNERS)}.")

    @property
    def where(self) -> str:
        """The address of the storage, or the path of the journal."""
        return self.storage or str(self.out / "journal.log")


@dataclass(frozen=True)
class Settled:
    """What a search will be about: its data, the settings it starts from, and its ranges."""

    request: Request
    data: Development
    base: Plan
    space: dict[str, Range]

    @property
    def start(self) -> Values:
        """The values of the searched settings where it starts."""
        return values_at(self.base, self.space)


def settle(request: SearchRequest, progress: Any = None) -> Settled:
    """Load the data and check every setting; nothing is begun yet."""
    import_optuna()
    data = Development.of(request.source, progress)
    asked = request.request.with_flags({"protocol": {"mode": "strict"}})
    base = Job(asked, data, request.seed, request.work).plan
    _check(base, data)
    return Settled(asked, data, base, make_space(base, request.request, request.searched))


def values_at(base: Plan, names: Iterable[str]) -> Values:
    """The values of some settings, by full name."""
    tree = base.run.to_tree()
    return {name: value_at(tree, name) for name in names}


def _check(base: Plan, data: Development) -> None:
    if not base.protocol.evaluates:
        raise ConfigError(f"The protocol {base.protocol.name!r} evaluates nothing.", "Name another with --protocol.")
    if base.judging.mode != "strict":
        raise ConfigError(
            "A search looks at validation data alone, so it evaluates in strict mode.", "Leave out the mode."
        )
    base.protocol.check_data(data.seen(base.run.data))
