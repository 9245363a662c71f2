"""Planning: every setting of a run from the preset, a file, flags and assignments, the last one winning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from adgcl.core.config import Config, build, merged, parse_overrides, read_toml
from adgcl.core.errors import ConfigError
from adgcl.data.dataset import Dataset
from adgcl.encoders.base import EncoderConfig
from adgcl.experiments.presets import Preset, preset_for
from adgcl.experiments.source import atom_features_of
from adgcl.methods.base import METHODS
from adgcl.protocols.unsupervised import UnsupervisedConfig
from adgcl.training.run_config import DataConfig, RunConfig, TrainingConfig, resolve

_DEFAULT_METHOD = "adgcl"


@dataclass(frozen=True)
class Wishes:
    """What the user says: a method or row, a TOML file, flags (nested settings), and `key=value` assignments."""

    method: str | None = None
    config: Path | None = None
    flags: Mapping[str, Any] = field(default_factory=dict)
    assignments: tuple[str, ...] = ()


@dataclass(frozen=True)
class Plan:
    """Checked settings: of the run, and of how it is judged; `row` is the name it has in a table."""

    run: RunConfig
    protocol: UnsupervisedConfig
    row: str = ""


def sections(method: str) -> dict[str, type[Config]]:
    """The sections of a configuration file for `method`."""
    return {
        "method": METHODS[method].Config,
        "encoder": EncoderConfig,
        "training": TrainingConfig,
        "data": DataConfig,
        "protocol": UnsupervisedConfig,
    }


def plan(dataset: Dataset, wishes: Wishes, saved: RunConfig | None = None) -> Plan:
    """Lay the user's wishes over the preset for the method and family; `saved` is a run that goes on."""
    file = _with_method_table(read_toml(wishes.config)) if wishes.config else {}
    row = _row_name(wishes, file, saved)
    preset = preset_for(row, dataset)
    method = preset.method
    METHODS[method].check_data(dataset)
    assigned = parse_overrides(wishes.assignments, sections(method))
    _check_tuned(preset, merged(file, wishes.flags, assigned))
    judged = merged({"protocol": preset.protocol}, file, wishes.flags, assigned)
    protocol = build(UnsupervisedConfig, judged["protocol"], "protocol")
    atoms = atom_features_of(dataset)
    own = {"data": {"atom_features": atoms}} if atoms else {}
    base = merged(own, preset.settings_for(dataset, protocol.mode), saved.to_tree() if saved else {})
    tree = merged(base, file, wishes.flags, assigned, {"method": {"name": method}})
    tree.pop("protocol", None)
    return Plan(resolve(tree), protocol, row)


def plan_protocol(wishes: Wishes) -> UnsupervisedConfig:
    """How to judge a run that is finished: nothing else can be wished for."""
    file = read_toml(wishes.config) if wishes.config else {}
    assigned = parse_overrides(wishes.assignments, {"protocol": UnsupervisedConfig})
    tree = merged(file, wishes.flags, assigned)
    return build(UnsupervisedConfig, tree.get("protocol", {}), "protocol")


def _check_tuned(preset: Preset, given: Mapping[str, Any]) -> None:
    """A row that is tuned has no settings of its own before something has chosen them."""
    for key in preset.tune:
        section, _, name = key.partition(".")
        if name not in given.get(section, {}):
            raise ConfigError(
                f"{preset.name} chooses {key} on validation data, so it is not one run.",
                f"Use `adgcl reproduce`, or choose a value yourself with --set {key}=...",
            )


def _row_name(wishes: Wishes, file: Mapping[str, Any], saved: RunConfig | None) -> str:
    """The assignment, the flag, the file, the run that goes on, or AD-GCL."""
    assigned = [
        a.partition("=")[2].strip().strip("\"'")
        for a in wishes.assignments
        if a.partition("=")[0].strip() == "method.name"
    ]
    named = [*assigned[-1:], wishes.method, file.get("method", {}).get("name"), saved.method.name if saved else None]
    return next((str(name) for name in named if name), _DEFAULT_METHOD)


def _with_method_table(tree: dict[str, Any]) -> dict[str, Any]:
    """A file may say `method = "adgcl"` instead of a whole table."""
    return {**tree, "method": {"name": tree["method"]}} if isinstance(tree.get("method"), str) else tree
