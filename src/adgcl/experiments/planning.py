"""Planning: every setting of a run from the preset, a file, flags and assignments, the last one winning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from pathlib import Path
from typing import Any

from adgcl.core.config import Config, Tree, build, merged, parse_overrides, read_toml
from adgcl.core.errors import ConfigError
from adgcl.data.dataset import Dataset
from adgcl.experiments.presets import Preset, named_preset, preset_for
from adgcl.experiments.source import Source, atom_features_of
from adgcl.experiments.starting import like_its_origin
from adgcl.methods.base import METHODS
from adgcl.protocols.base import DEFAULT_PROTOCOL, PROTOCOLS, Protocol, ProtocolConfig, make_protocol
from adgcl.training.run_config import DEFAULT_METHOD, RunConfig, as_table, named, resolve, sections_of


@dataclass(frozen=True)
class Request:
    """What the user asks for: a method or row, a TOML file, flags (nested settings), and `key=value` assignments.

    `preset` names a preset to start from, in place of the one for the method and the kind of data.
    """

    method: str | None = None
    config: Path | None = None
    flags: Mapping[str, Any] = field(default_factory=dict)
    assignments: tuple[str, ...] = ()
    preset: str | None = None

    def with_flags(self, *flags: Mapping[str, Any]) -> Request:
        """The same with more flags, which win over those it has."""
        return replace(self, flags=merged(self.flags, *flags))

    def reading(self, source: Source) -> Request:
        """The same with how `source` is read as a setting of the run, so that whoever uses the run reads alike."""
        cut = ("data.keep_largest_fragment=true",) if source.keep_largest_fragment else ()
        return replace(self, assignments=(*self.assignments, *cut))

    def with_setting(self, key: str, value: Any) -> Request:
        """The same with one more setting, given as `section.name`, or `section.name.name` inside a setting."""
        return self.with_flags(reduce(lambda inner, name: {name: inner}, reversed(key.split(".")), value))


@dataclass(frozen=True)
class Plan:
    """Checked settings: of the run, and of how it is evaluated; `row` is the name it has in a table."""

    run: RunConfig
    judging: ProtocolConfig
    row: str = ""

    @property
    def protocol(self) -> Protocol:
        return make_protocol(self.judging)

    @property
    def request(self) -> Request:
        """A request that leads to exactly these settings."""
        judging = self.judging.model_dump(mode="json")
        return Request(self.row or self.run.method.name, flags={**self.run.to_tree(), "protocol": judging})


def sections(method: str, encoder: str = "", protocol: str = "") -> dict[str, type[Config]]:
    """The sections of a configuration file for a method, and for the encoder and protocol that are used with it."""
    judged = protocol or METHODS[method].protocol or DEFAULT_PROTOCOL
    run = sections_of({"method": method, "encoder": encoder})
    return {**run, "protocol": PROTOCOLS[judged].Config}


def plan(dataset: Dataset, request: Request, saved: RunConfig | None = None, protocol: str = "") -> Plan:
    """Lay what the user asks for over the preset for the method and family.

    `saved` is a run to continue; `protocol` evaluates methods that leave it open, unless the user names another.
    """
    file = _tables(read_toml(request.config)) if request.config else {}
    row, preset = _row_and_preset(dataset, request, file, saved)
    method = preset.method
    METHODS[method].check_training(dataset)
    chosen = _protocol_name(request, file, preset, protocol)
    known = sections(method, _encoder_name(request, file, preset, saved), chosen)
    assigned = parse_overrides(request.assignments, known)
    _check_tuned(preset, merged(file, request.flags, assigned))
    judging = _judging(known["protocol"], chosen, preset, request, file, assigned)
    atoms = atom_features_of(dataset)
    own = {"data": {"atom_features": atoms}} if atoms else {}
    shipped = merged(own, _fitting(preset.settings_for(dataset, judging.mode), known))
    asked = merged(saved.to_tree() if saved else {}, file, request.flags, assigned)
    tree = merged(like_its_origin(shipped, asked), asked, {"method": {"name": method}})
    tree.pop("protocol", None)
    return Plan(resolve(tree), judging, row)


def _fitting(settings: Tree, known: Mapping[str, type[Config]]) -> Tree:
    """A preset without what it says about an encoder of its own, where the user chose another."""
    fields = known["encoder"].model_fields
    return {**settings, "encoder": {k: v for k, v in settings.get("encoder", {}).items() if k in fields}}


def plan_protocol(request: Request, protocol: str) -> ProtocolConfig:
    """How to evaluate a finished run: nothing else can be asked for."""
    file = _tables(read_toml(request.config)) if request.config else {}
    kind = PROTOCOLS[protocol].Config
    assigned = parse_overrides(request.assignments, {"protocol": kind})
    tree = merged(file, request.flags, assigned).get("protocol", {})
    return build(kind, {**tree, "name": protocol}, "protocol")


def _judging(
    kind: type[Config], name: str, preset: Preset, request: Request, file: Tree, assigned: Tree
) -> ProtocolConfig:
    flags = dict(request.flags.get("protocol", {}))
    # Flags such as --probe are given for all rows of a table: a protocol that knows none passes over them.
    flags = {key: value for key, value in flags.items() if key in kind.model_fields}
    asked = merged(file.get("protocol", {}), flags, assigned.get("protocol", {}), {"name": name})
    if preset.judged_by != name:
        return _protocol_config(kind, asked)
    mode = _protocol_config(kind, merged(preset.protocol, asked)).mode
    return _protocol_config(kind, merged(preset.protocol_for(mode), asked))


def _protocol_config(kind: type[Config], tree: Tree) -> ProtocolConfig:
    made = build(kind, tree, "protocol")
    assert isinstance(made, ProtocolConfig)
    return made


def _protocol_name(request: Request, file: Tree, preset: Preset, default: str) -> str:
    """The one the user names, the preset's, the method's own, the table's, or the usual one."""
    asked, method = _asked_protocol(request, file), METHODS[preset.method]
    only = method.protocol
    if asked and only and asked not in (only, *method.other_protocols):
        known = " or ".join(map(repr, (only, *method.other_protocols)))
        raise ConfigError(
            f"{preset.method} can only be evaluated with protocol {known}, not {asked!r}.", "Leave out the protocol."
        )
    name = str(asked or preset.protocol.get("name") or only or default or DEFAULT_PROTOCOL)
    if not PROTOCOLS[name].trains:
        raise ConfigError(f"The protocol {name!r} trains nothing.", "Say `adgcl evaluate RUN DATA`.")
    probed = PROTOCOLS[name].probes and not method.trains
    if PROTOCOLS[name].learns_from_labels and not method.needs_labels and not probed:
        raise ConfigError(
            f"The protocol {name!r} trains with labels, but {preset.method} learns without.",
            f"Use --method supervised; an encoder that {preset.method} has trained goes in by --set start_from=RUN.",
        )
    return name


def _asked_protocol(request: Request, file: Mapping[str, Any]) -> str:
    """The protocol that the user names, or nothing."""
    named = (_assigned(request, "protocol.name"), *(t.get("protocol", {}).get("name") for t in (request.flags, file)))
    return str(next(filter(None, named), ""))


def _encoder_name(request: Request, file: Tree, preset: Preset, saved: RunConfig | None) -> str:
    layers = merged(preset.settings, saved.to_tree() if saved else {}, file, request.flags)
    return _assigned(request, "encoder.name") or named(layers, "encoder", "")


def _check_tuned(preset: Preset, given: Mapping[str, Any]) -> None:
    """A row that is tuned has no settings of its own before something has chosen them."""
    for key in preset.tune:
        section, _, name = key.partition(".")
        if name not in given.get(section, {}):
            raise ConfigError(
                f"{preset.name} chooses {key} on validation data, so it is not one run.",
                f"Use `adgcl reproduce`, or choose a value yourself with --set {key}=...",
            )


def _row_and_preset(
    dataset: Dataset, request: Request, file: Mapping[str, Any], saved: RunConfig | None
) -> tuple[str, Preset]:
    """The row that the assignment, the flag or the file names, else that of the preset or the run that is continued."""
    asked = _assigned(request, "method.name") or request.method or named(file, "method", "")
    if not request.preset:
        row = asked or (saved.method.name if saved else DEFAULT_METHOD)
        return row, preset_for(row, dataset, _asked_protocol(request, file))
    preset = named_preset(request.preset)
    if asked not in ("", preset.row, preset.method):
        raise ConfigError(
            f"The preset {preset.name!r} is for {preset.method}, not {asked}.", "Leave out the method or the preset."
        )
    return preset.row, preset


def _assigned(request: Request, key: str) -> str:
    """What the last assignment to `key` says, or nothing."""
    pairs = [assignment.partition("=") for assignment in request.assignments]
    return next((value.strip().strip("\"'") for name, _, value in reversed(pairs) if name.strip() == key), "")


def _tables(tree: Tree) -> Tree:
    """The sections of a file, which may say `method = "adgcl"` instead of a whole table."""
    made = {name: as_table(value) for name, value in tree.items()}
    for name, value in made.items():
        if not isinstance(value, Mapping):
            raise ConfigError(f"{name} = {value!r} is not a section.", f"Write its settings below [{name}].")
    return made
