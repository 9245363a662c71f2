"""Presets: the settings a row of a table runs with on each family of data, one TOML each.

A row is a method, or an experiment with a method that has a name of its own, such as `adgcl-opt`: its file names the
method in `[settings.method]`, or takes everything from the file it gives as `base` and changes some of it. Any preset
can also be asked for by its whole name, whatever the data: `adgcl pretrain --preset`. A file whose name begins with `_`
is only a base of others.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from adgcl.core.config import merged
from adgcl.core.errors import UnknownNameError
from adgcl.data.dataset import Dataset
from adgcl.methods.base import METHODS
from adgcl.protocols.base import DEFAULT_PROTOCOL
from adgcl.protocols.selection import Mode

# Protocols whose published runs have settings of their own for graphs that are not molecules: how their presets end.
ENDINGS = {"semi_supervised": "semi"}
# Families without a row in the paper borrow the settings of the one they resemble.
_LIKE = {"ogb": "ogb", "freesolv": "ogb", "moleculenet": "ogb", "smiles": "ogb", "zinc": "zinc", "ppi": "ppi"}


@dataclass(frozen=True)
class Preset:
    """Settings of one row on one family, and how it is evaluated there.

    `tune` lists the values of settings (`method.reg_lambda`) among which validation data choose. `take` names settings
    that a seed takes from what another row's training ended with on the same data and seed: `{row, training}`.
    `as_published` are settings that made the published figures but would be wrong to use otherwise, such as a fault;
    its section `protocol` is for how they were evaluated. `finetuning` says how the published fine-tuning of what it
    pre-trains is evaluated, where not as AD-GCL's.
    """

    name: str
    title: str = ""
    # What tables call the row; the method's own title where it is empty.
    label: str = ""
    base: str = ""
    table: str = ""
    family: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    protocol: dict[str, Any] = field(default_factory=dict)
    datasets: dict[str, dict[str, Any]] = field(default_factory=dict)
    as_published: dict[str, Any] = field(default_factory=dict)
    finetuning: dict[str, Any] = field(default_factory=dict)
    tune: dict[str, list[Any]] = field(default_factory=dict)
    take: dict[str, dict[str, str]] = field(default_factory=dict)

    @property
    def method(self) -> str:
        """The method that the row runs."""
        return str(self.settings["method"]["name"])

    @property
    def row(self) -> str:
        """The row that it is about: its name without the family."""
        return self.name.rpartition("-")[0]

    @property
    def judged_by(self) -> str:
        """The protocol that the settings under `protocol` are for."""
        return str(self.protocol.get("name") or METHODS[self.method].protocol or DEFAULT_PROTOCOL)

    def settings_for(self, dataset: Dataset, mode: Mode) -> dict[str, Any]:
        """The nested settings for one data set: the mode's features, then the row's, the data set's own, the mode's."""
        own = self.datasets.get(dataset.origin.paper_name or dataset.name, {})
        published = self._published(mode)
        return merged({"data": {"features": features_for(dataset, mode)}}, self.settings, own, published)

    def protocol_for(self, mode: Mode) -> dict[str, Any]:
        """How the row is evaluated in a mode."""
        return merged(self.protocol, self._published(mode).get("protocol", {}))

    def _published(self, mode: Mode) -> dict[str, Any]:
        return self.as_published if mode == "as_published" else {}


@cache
def presets() -> dict[str, Preset]:
    """Every shipped preset, by name."""
    entries = sorted(files("adgcl.experiments.presets").iterdir(), key=lambda e: e.name)
    trees = {
        entry.name.removesuffix(".toml"): tomllib.loads(entry.read_text(encoding="utf-8"))
        for entry in entries
        if entry.name.endswith(".toml")
    }
    rows = {name: tree for name, tree in trees.items() if not name.startswith("_")}
    return {name: Preset(name, **_on_its_base(tree, trees)) for name, tree in rows.items()}


def _on_its_base(tree: dict[str, Any], trees: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The settings of a file laid over those of its base; what a base tunes or takes, and its label, are its own."""
    if "base" not in tree:
        return tree
    base = _on_its_base(trees[tree["base"]], trees)
    return merged({key: value for key, value in base.items() if key not in ("tune", "take", "label")}, tree)


def is_row(name: str) -> bool:
    """Whether some family has a preset of this name."""
    return any(preset.row == name for preset in presets().values())


def runs_here(name: str) -> bool:
    """Whether a row can be run: it is a method, or has a preset."""
    return name in METHODS or is_row(name)


def row_title(name: str) -> str:
    """What tables call a row: the label of its preset, the title of its method, or else its name."""
    label = next((preset.label for preset in presets().values() if preset.label and preset.row == name), "")
    return label or (METHODS[name].title if name in METHODS else "") or name


def named_row(name: str) -> str:
    """The method that a row runs, whatever the data."""
    if name in METHODS:
        return name
    found = next((preset.method for preset in presets().values() if preset.row == name), None)
    if found is None:
        raise UnknownNameError("method or row", name, {*METHODS, *(preset.row for preset in presets().values())})
    return found


def named_preset(name: str) -> Preset:
    """The preset of this name, for whatever data."""
    shipped = presets()
    if name not in shipped:
        raise UnknownNameError("preset", name, shipped)
    return shipped[name]


def preset_for(method: str, dataset: Dataset, protocol: str = "") -> Preset:
    """The preset of a row for the family of `dataset`; a method without one gets that family's encoder settings.

    A protocol that the user names may have presets of its own.
    """
    # Your own molecules are like OGB's, your own graphs like those of TU.
    family = _LIKE.get(dataset.origin.family, "tu" if dataset.smiles is None else "ogb")
    shipped = presets()
    special = ENDINGS.get(protocol, "") if dataset.smiles is None else ""
    for name in (special, dataset.origin.family, family):
        if f"{method}-{name}" in shipped:
            return shipped[f"{method}-{name}"]
    base = shipped[f"adgcl-{family}"]
    settings = {**base.settings, "method": {"name": method}}
    # How embeddings are evaluated says nothing about a method with a protocol of its own.
    own = METHODS[method].protocol if method in METHODS else ""
    judged = base.protocol if own in ("", DEFAULT_PROTOCOL) else {}
    return Preset(f"{method}-{family}", family=family, settings=settings, protocol=judged)


def features_for(dataset: Dataset, mode: Mode) -> str:
    """The authors throw away the node labels of every TU set; `strict` uses what the data has."""
    published = mode == "as_published" and dataset.origin.family == "tu"
    return "constant" if published else "auto"
