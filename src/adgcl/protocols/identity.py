"""Identity: when are two pieces of work the same? Answered here, for folders of seeds and for Records alike.

Settings are read through today's schema before they are compared, so that a setting newer than a folder or a Record
takes its default there, and work of earlier versions still counts. Settings that only change where or how fast work is
done do not count (`HARMLESS` in core/config.py), nor does the seed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from glob import escape
from pathlib import Path
from typing import Any

from adgcl.core.config import Tree, build
from adgcl.core.errors import ConfigError
from adgcl.core.files import write_json
from adgcl.core.records import Record
from adgcl.core.safe_text import file_name
from adgcl.core.trees import TreeError, fitted, read_json
from adgcl.data.dataset import Dataset
from adgcl.graphs.store.fingerprint import fingerprint
from adgcl.protocols.base import PROTOCOLS, Protocol
from adgcl.training.run_config import RunConfig, resolve
from adgcl.training.start import encoder_origin

_SETTINGS = "settings.json"
_FORMAT = "adgcl-work-1"
_RUN = ("method", "encoder", "training", "data")
# Versions up to 0.3.0 kept no settings.json; their folders are named by a digest of these settings of the protocol.
_FIRST_VERSION = {
    "unsupervised": ("mode", "probes", "evaluate_every", "svm_epochs", "num_folds"),
    "supervised": ("mode", "evaluate_every", "num_folds"),
}
_FIRST_HARMLESS = ("seed", "threads", "checkpoint_seconds", "device")


Sections = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class _Claim:
    """What `settings.json` says about a folder of seeds."""

    format: str
    protocol: str
    settings: Sections
    data: str


def full_settings(run: RunConfig, protocol: Protocol) -> Tree:
    """Every setting, as Records and folders of seeds keep them, and which trained encoder the run starts from."""
    start, tree = run.training.start_from, run.to_tree()
    origin = {"started_from": encoder_origin(start)} if start else {}
    # Where on this machine the encoder lay helps nobody; its checksum says which one it was.
    tree["training"]["start_from"] = Path(start).name
    return {**tree, "protocol": protocol.config.model_dump(mode="json"), **origin}


def settings_of(run: RunConfig, protocol: Protocol, score: str | None = None) -> Tree:
    """What decides the results of a run under a protocol, or one score of it."""
    start = run.training.start_from
    return _settings_of(run, protocol, score, encoder_origin(start) if start else None)


def _settings_of(run: RunConfig, protocol: Protocol, score: str | None, origin: Mapping[str, Any] | None) -> Tree:
    tree = {**run.essence_without("seed"), "protocol": protocol.essence(score)}
    if origin:
        # A trained encoder is identified by its weights, wherever they are kept; if every seed has one of its own, all
        # of them by how they were made.
        tree["training"]["start_from"] = str(origin.get("checksum") or origin.get("made"))
    return tree


def read_settings(tree: Mapping[str, Any], protocol: str, score: str | None = None) -> Tree:
    """The same for settings that an earlier version may have written, in a Record or a folder of seeds.

    What cannot be read today (a method of a plug-in that is not installed) is compared as it is.
    """
    try:
        run = resolve({section: tree.get(section, {}) for section in _RUN})
        kind = PROTOCOLS[protocol]
        judged = kind(build(kind.Config, {**tree.get("protocol", {}), "name": protocol}, "protocol"))
    except ConfigError:
        return dict(tree)
    # A tuned row says under `tune` which settings were tried, a row that takes some from another under `take`.
    extra = {name: value for name, value in tree.items() if name not in (*_RUN, "protocol", "started_from")}
    return {**_settings_of(run, judged, score, tree.get("started_from")), **extra}


def identity_of(record: Record) -> str:
    """What must agree for two Records to be about the same work, whatever their seeds."""
    about = (record.data.get(key) or "" for key in ("fingerprint", "split", "parts"))
    data = "".join(map(str, (*about, record.metric)))
    return _record_identity(json.dumps(record.config, sort_keys=True), record.protocol, record.probe, data)


@cache
def _record_identity(config: str, protocol: str, score: str, data: str) -> str:
    return json.dumps([read_settings(json.loads(config), protocol, score), data], sort_keys=True)


def work_folder(base: Path, dataset: Dataset, run: RunConfig, protocol: Protocol) -> Path:
    """The folder of this work below `base`: the one that an earlier version began, or else the one to make."""
    wanted, data = settings_of(run, protocol), fingerprint(dataset.store)
    prefix = file_name(f"{dataset.name}-{run.method.name}-{protocol.config.mode}")
    exact = base / f"{prefix}-{_digest([wanted, data])}"
    if exact.exists():
        return exact
    for folder in sorted(base.glob(f"{escape(prefix)}-*")):
        if _holds(folder, wanted, data, protocol):
            return folder
    return exact


def claim(folder: Path, run: RunConfig, protocol: Protocol, data: str) -> None:
    """Write into a folder of seeds which work it is for, unless that is already there."""
    path = folder / _SETTINGS
    if not path.exists():
        settings = full_settings(run, protocol)
        # The folder is for all seeds, and which of them comes first should not show.
        settings["training"].pop("seed")
        write_json(path, {"format": _FORMAT, "protocol": protocol.name, "settings": settings, "data": data})


def _holds(folder: Path, wanted: Tree, data: str, protocol: Protocol) -> bool:
    """Whether a folder of seeds is for the wanted work."""
    with suppress(OSError, TreeError):
        if not (folder / _SETTINGS).exists():
            return _holds_first_version(folder, wanted, data, protocol)
        claimed = fitted(_Claim, read_json(folder / _SETTINGS))
        if claimed.format != _FORMAT or (claimed.protocol, claimed.data) != (protocol.name, data):
            return False
        return _plain(read_settings(claimed.settings, protocol.name)) == _plain(wanted)
    return False


def _holds_first_version(folder: Path, wanted: Tree, data: str, protocol: Protocol) -> bool:
    """The same for a folder that is named by a digest alone: its run holds the settings."""
    first = next(folder.glob("seed-*/**/config.json"), None)
    if first is None or protocol.name not in _FIRST_VERSION:
        return False
    tree = fitted(Sections, read_json(first))
    ours = {**wanted, "protocol": {}}
    if _plain({**read_settings(tree, protocol.name), "protocol": {}}) != _plain(ours):
        return False
    for name in _FIRST_HARMLESS:
        tree.get("training", {}).pop(name, None)
    settings = protocol.config.model_dump(mode="json")
    judged = {name: settings[name] for name in _FIRST_VERSION[protocol.name]}
    return folder.name.endswith("-" + _digest([tree, judged, data]))


def making_of(run: RunConfig, protocol: Protocol, data: str) -> str:
    """A digest of how an encoder is made, the same for all seeds: settings, and the fingerprint of its data."""
    return _digest([settings_of(run, protocol), data])


def _digest(parts: list[Any]) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:10]


def _plain(tree: Tree) -> str:
    return json.dumps(tree, sort_keys=True)
