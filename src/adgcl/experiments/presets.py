"""Presets: the settings a method runs with on each family of data, one TOML per row of a table."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from adgcl.core.config import merged
from adgcl.data.dataset import Dataset
from adgcl.protocols.selection import Mode

# Families without a row in the paper borrow the settings of the one they resemble.
_LIKE = {"ogb": "ogb", "freesolv": "ogb", "moleculenet": "ogb", "smiles": "ogb", "zinc": "zinc"}


@dataclass(frozen=True)
class Preset:
    """Settings of one method on one family, and how it is judged there."""

    name: str
    title: str = ""
    table: str = ""
    family: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    protocol: dict[str, Any] = field(default_factory=dict)
    datasets: dict[str, dict[str, Any]] = field(default_factory=dict)

    def settings_for(self, dataset: Dataset, mode: Mode) -> dict[str, Any]:
        """The nested settings for one data set: the row's, then the data set's own, then the mode's."""
        own = self.datasets.get(dataset.origin.paper_name or dataset.name, {})
        return merged(self.settings, own, {"data": {"features": features_for(dataset, mode)}})


@cache
def presets() -> dict[str, Preset]:
    """Every shipped preset, by name."""
    found = {}
    for entry in sorted(files("adgcl.experiments").iterdir(), key=lambda e: e.name):
        if entry.name.endswith(".toml"):
            name = entry.name.removesuffix(".toml")
            found[name] = Preset(name, **tomllib.loads(entry.read_text(encoding="utf-8")))
    return found


def preset_for(method: str, dataset: Dataset) -> Preset:
    """The preset of `method` for the family of `dataset`; a method without one gets that family's encoder settings."""
    # Your own molecules are like OGB's, your own graphs like those of TU.
    family = _LIKE.get(dataset.origin.family, "tu" if dataset.smiles is None else "ogb")
    shipped = presets()
    if f"{method}-{family}" in shipped:
        return shipped[f"{method}-{family}"]
    base = shipped[f"adgcl-{family}"]
    settings = {**base.settings, "method": {"name": method}}
    return Preset(f"{method}-{family}", family=family, settings=settings, protocol=base.protocol)


def features_for(dataset: Dataset, mode: Mode) -> str:
    """The authors throw away the node labels of every TU set; `strict` uses what the data has."""
    published = mode == "as_published" and dataset.origin.family == "tu"
    return "constant" if published else "auto"
