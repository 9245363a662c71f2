"""Seeds: other runs with the same settings, and the same networks before any training."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from adgcl.core.errors import CheckpointError, ConfigError
from adgcl.methods.base import Method
from adgcl.training.runs import LoadedRun, load_run
from adgcl.training.trainer import build_method

_FILE = "checkpoint.safetensors"
_MOST = 10


def other_seeds(run: LoadedRun, device: str = "auto") -> list[LoadedRun]:
    """The runs in the run's folder and beside it that differ from it in nothing but the seed."""
    folder = run.path if run.path.is_dir() else run.path.parent
    # `evaluate` and `quickstart` keep seeds in folders called seed-0, seed-1 and so on.
    places = sorted(folder.glob(f"seeds/*/seed-*/{_FILE}")) or sorted(folder.parent.glob(f"seed-*/{_FILE}"))
    found: dict[int, LoadedRun] = {}
    for place in places[: 4 * _MOST]:
        try:
            other = load_run(place.parent, device)
        except CheckpointError:
            continue  # Not finished yet, or damaged: the others still tell something.
        seed = other.config.training.seed
        if seed != run.config.training.seed and comparable(other) == comparable(run):
            found.setdefault(seed, other)
    return list(found.values())[:_MOST]


def load_seeds(run: LoadedRun, places: Iterable[str | Path], device: str = "auto") -> list[LoadedRun]:
    """The runs that a user names; runs with other settings are refused."""
    found = []
    for place in places:
        other = load_run(place, device)
        if comparable(other) != comparable(run):
            raise ConfigError(
                f"{place} was trained with other settings, or on other data, than {run.path}.",
                "Compare seeds of one setting: the same command with another --seed.",
            )
        found.append(other)
    return found


def untrained(run: LoadedRun, seed: int) -> Method:
    """The networks of a run as they are before the first step, for one seed."""
    training = run.config.training.model_copy(update={"seed": seed, "start_from": ""})
    return build_method(run.config.model_copy(update={"training": training}), run.checkpoint.spec, run.checkpoint.task)


def comparable(run: LoadedRun) -> object:
    """What makes two runs comparable: everything but the seed and where it ran."""
    config, training = run.config, run.config.training
    settings = config.method, config.encoder, config.data, training.epochs, training.batch_size, training.start_from
    return settings, run.checkpoint.spec, run.checkpoint.data.get("name")
