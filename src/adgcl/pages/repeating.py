"""How to repeat: the commands behind Records, and a command for a run, from its settings."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from adgcl.pages.material import Material, Run

_FLAGS = {"epochs": "--epochs", "batch_size": "--batch-size", "seed": "--seed", "start_from": "--start-from"}


def commands(material: Material) -> list[str]:
    """Each command once, those of runs first."""
    found = [pretrain_command(run) for run in material.runs]
    found += [record.command for record in material.records if record.command]
    return list(dict.fromkeys(found))


def pretrain_command(run: Run) -> str:
    """`adgcl pretrain` with every setting of the run, whatever the defaults for its data are."""
    config = run.checkpoint.config
    words = ["adgcl", "pretrain", run.source or "DATA", "--method", config.method.name]
    own = config.essence()
    own["method"].pop("name", None)
    for name, flag in _FLAGS.items():
        if (value := own["training"].pop(name)) != "":
            words += [flag, str(value)]
    for key, value in _settings(own):
        words += ["--set", f"{key.removeprefix('method.')}={_text(value)}"]
    return shlex.join([*words, "--out", str(run.path)])


def _settings(tree: Mapping[str, Any], where: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in tree.items():
        if isinstance(value, Mapping):
            yield from _settings(value, f"{where}{key}.")
        elif value not in ("", None, []):
            yield f"{where}{key}", value


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
