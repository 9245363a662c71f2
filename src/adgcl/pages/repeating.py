"""How to repeat: the commands behind Records, and a command for a run, from its settings."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from adgcl.pages.material import Material, Run
from adgcl.training.run_config import resolve

_FLAGS = {"epochs": "--epochs", "batch_size": "--batch-size", "seed": "--seed", "start_from": "--start-from"}


def commands(material: Material) -> list[str]:
    """Each command once, those of runs first."""
    found = [pretrain_command(run) for run in material.runs]
    found += [record.command for record in material.records if record.command]
    return list(dict.fromkeys(found))


def pretrain_command(run: Run) -> str:
    """`adgcl pretrain` with every setting of the run that is not a default."""
    config = run.checkpoint.config
    words = ["adgcl", "pretrain", run.data or "DATA", "--method", config.method.name]
    plain = resolve({"method": config.method.name})
    usual, own = plain.essence(), config.essence()
    for name, flag in _FLAGS.items():
        value = own["training"].pop(name)
        if value != usual["training"].pop(name) or name == "epochs":
            words += [flag, str(value)]
    for key, value in _changes(usual, own):
        words += ["--set", f"{key.removeprefix('method.')}={_text(value)}"]
    return shlex.join([*words, "--out", str(run.path)])


def _changes(usual: Mapping[str, Any], own: Mapping[str, Any], where: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in own.items():
        if isinstance(value, Mapping) and isinstance(usual.get(key), Mapping):
            yield from _changes(usual[key], value, f"{where}{key}.")
        elif value != usual.get(key):
            yield f"{where}{key}", value


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(map(str, value))
    return value if isinstance(value, str) else json.dumps(value)
