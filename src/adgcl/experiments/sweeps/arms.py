"""Arms: what a sweep tries; the presets that make the paper's figures, and grids from the command line."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from adgcl.core.config import Tree, parse_overrides
from adgcl.core.errors import ConfigError, UnknownNameError
from adgcl.experiments.planning import sections
from adgcl.experiments.presets import named_row
from adgcl.protocols.selection import Mode

# What an arm and its trials are made of already.
_NOT_SWEPT = {"method.name": "--methods adgcl nadgcl", "training.seed": "--seeds 3"}


@dataclass(frozen=True)
class Arm:
    """A row with settings of its own, tried with every combination of the values in `grid`."""

    name: str
    row: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    def trials(self) -> Iterator[dict[str, Any]]:
        """The values of each trial, by the full names of their settings."""
        for combination in itertools.product(*self.grid.values()):
            yield dict(zip(self.grid, combination))


@dataclass(frozen=True)
class SweepPreset:
    """A named sweep: its arms, what all of them share, and what is measured on trained encoders afterwards."""

    name: str
    title: str = ""
    arms: tuple[Arm, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    datasets: tuple[str, ...] = ()
    seeds: int = 3
    mode: Mode = "strict"
    measure: str = ""


@cache
def sweep_presets() -> dict[str, SweepPreset]:
    """Every shipped sweep, by name."""
    found = {}
    for entry in sorted(files("adgcl.experiments.sweeps").iterdir(), key=lambda entry: entry.name):
        if entry.name.endswith(".toml"):
            tree = tomllib.loads(entry.read_text(encoding="utf-8"))
            arms = tuple(Arm(**arm) for arm in tree.pop("arms"))
            name = entry.name.removesuffix(".toml")
            found[name] = SweepPreset(name, **{**tree, "arms": arms, "datasets": tuple(tree.pop("datasets"))})
    return found


def sweep_preset(name: str) -> SweepPreset:
    """The shipped sweep of this name."""
    known = sweep_presets()
    if name not in known:
        raise UnknownNameError("sweep", name, known)
    return known[name]


def own_sweep(rows: Sequence[str], grids: Sequence[str]) -> SweepPreset:
    """A sweep from the command line: each row over the same grid of `key=value,value` lines."""
    if not grids:
        raise ConfigError("There is nothing to sweep over.", "Name a --preset, or values with --grid reg_lambda=1,5.")
    return SweepPreset("sweep", "A sweep", tuple(Arm(row, row, grid=_grid(row, grids)) for row in rows or ("adgcl",)))


def _grid(row: str, lines: Sequence[str]) -> dict[str, list[Any]]:
    known = sections(named_row(row))
    grid: dict[str, list[Any]] = {}
    for line in lines:
        key, equals, values = line.partition("=")
        if not equals or not values.strip():
            raise ConfigError(f"Cannot read the grid {line!r}.", "Write it as key=value,value,...")
        for value in values.split(","):
            path, parsed = _flat(parse_overrides([f"{key}={value}"], known))
            grid.setdefault(path, []).append(parsed)
    for path, tried in grid.items():
        if path in _NOT_SWEPT:
            raise ConfigError(f"{path} cannot be swept by a grid.", f"Use {_NOT_SWEPT[path]}.")
        if any(value in tried[:number] for number, value in enumerate(tried)):
            raise ConfigError(f"{path} names a value twice.", "Name each value once.")
    return grid


def _flat(tree: Tree) -> tuple[str, Any]:
    """The one setting in nested settings, as `section.name` and its value."""
    path, value = [], tree
    while isinstance(value, dict):
        ((name, value),) = value.items()
        path.append(name)
    return ".".join(path), value
