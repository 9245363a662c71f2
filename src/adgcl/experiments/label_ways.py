"""Ways to learn from few labels: from scratch, after pre-training on the same graphs, from an encoder, by a probe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from adgcl.core.config import merged
from adgcl.core.errors import AdgclError, ConfigError
from adgcl.encoders.base import ENCODERS
from adgcl.experiments.jobs import FOLDER, Job
from adgcl.experiments.planning import Request
from adgcl.experiments.presets import presets
from adgcl.experiments.source import LoadedSource
from adgcl.experiments.tables.few_labels import ENDING
from adgcl.experiments.tables.transfer import pretraining_job
from adgcl.methods.base import METHODS
from adgcl.training.packaged import packaged_encoders
from adgcl.training.start import encoder_origin

Kind = Literal["none", "pretrained", "floor"]
_START = "training.start_from"
# Curves take dozens of trainings: molecules get the published encoder, but narrower.
_MOLECULES = "ogb"
_NARROW = {"hidden_dim": 128, "readout": "mean", "dropout": 0.0}


@dataclass(frozen=True)
class Pretraining:
    """A preset, what is changed of it for all curves, and what the user sets."""

    preset: str
    usual: tuple[str, ...]
    settings: tuple[str, ...]
    threads: int


@dataclass(frozen=True, eq=False)
class Way:
    """One curve: its name, what it has before it sees a label, and the work that makes it."""

    name: str
    kind: Kind
    request: Request
    data: LoadedSource
    work: Path
    pretraining: Pretraining | None = None
    values: Mapping[str, Any] = field(default_factory=dict)

    def job(self, flags: Mapping[str, Any], assignments: tuple[str, ...], seed: int) -> Job:
        """One seed, evaluated as `flags` say; `assignments` are for what learns, not for a floor.

        What they say about the shape of the encoder also holds for pre-training, and not for an encoder that is there.
        """
        label = f"{self.name}, {100 * flags['protocol']['label_rate']:g} % of labels,"
        request = replace(self.request, flags=merged(self.request.flags, flags), assignments=self._given(assignments))
        if self.pretraining is None:
            return Job(request, self.data, seed, self.work, values=self.values, label=label)
        made = self.pretraining
        settings = (*made.usual, *filter(_shapes, assignments), *made.settings)
        needs = pretraining_job(made.preset, self.data, seed, self.work, "strict", settings, made.threads)
        return Job(request, self.data, seed, self.work, needs=needs, take={_START: FOLDER}, label=label)

    def _given(self, assignments: tuple[str, ...]) -> tuple[str, ...]:
        if self.kind == "floor":
            return ()
        if self.pretraining is not None:
            return (*assignments, *filter(_shapes, self.pretraining.settings))
        return tuple(given for given in assignments if not (self.values and _shapes(given)))


def _shapes(assignment: str) -> bool:
    """Whether an assignment, such as `encoder.hidden_dim=8`, decides which weights an encoder has."""
    key = assignment.partition("=")[0].strip()
    section, _, name = key.rpartition(".")
    kinds = [ENCODERS[kind].Config for kind in ENCODERS]
    known = {setting for kind in kinds for setting in kind.model_fields}
    free = {setting for kind in kinds for setting in kind.weightless()}
    return (section == "encoder" or (not section and name in known)) and name not in free


def ways(
    data: LoadedSource, method: str, work: Path, encoders: tuple[str, ...], settings: tuple[str, ...], threads: int
) -> tuple[list[Way], list[str]]:
    """Every way that applies to the data, and why a packaged encoder was left out."""
    molecules = data.content.smiles is not None
    ending = _MOLECULES if molecules else ENDING
    preset = f"{method}-{ending}"
    known = _pretraining_rows(ending)
    if method not in known:
        raise ConfigError(
            f"There are no settings for pre-training {data.name} by {method!r}.", f"Known: {', '.join(known)}."
        )
    encoder = {"encoder": _NARROW} if molecules else {}
    training = {"training": {"threads": threads, "merge_single": True}}
    scratch = Request("supervised", flags=merged(encoder, training), preset=f"supervised-{ending}")
    narrow = tuple(f"encoder.{key}={value}" for key, value in encoder.get("encoder", {}).items())
    title = METHODS[presets()[preset].method].title
    found = [
        Way("no pre-training", "none", scratch, data, work),
        Way(f"{title} pre-training", "pretrained", scratch, data, work, Pretraining(preset, narrow, settings, threads)),
    ]
    started, skipped = _started(data, work, encoders, molecules, training)
    floor = "ecfp" if molecules else "statistics"
    title = "ECFP fingerprints" if molecules else "graph statistics"
    probe = Way(title, "floor", Request(floor, preset=f"{floor}-{ending}"), data, work)
    return [*found, *started, probe], skipped


def _pretraining_rows(ending: str) -> list[str]:
    """The rows that learn without labels, and whose settings are neither chosen nor taken from others."""
    rows = [p for p in presets().values() if p.name == f"{p.row}-{ending}" and not (p.tune or p.take)]
    return sorted(p.row for p in rows if METHODS[p.method].trains and not METHODS[p.method].needs_labels)


def _started(
    data: LoadedSource, work: Path, encoders: tuple[str, ...], molecules: bool, training: dict[str, Any]
) -> tuple[list[Way], list[str]]:
    """A way for each encoder that the user names, and for each packaged one that fits molecules."""
    packaged = [name for name in packaged_encoders() if molecules and name not in encoders]
    found, skipped = [], []
    names = (*encoders, *packaged)
    short = [Path(name).name for name in names]
    for name in names:
        preset = "supervised-moleculenet" if molecules else f"supervised-{ENDING}"
        request = Request("supervised", flags=training, preset=preset)
        title = name if short.count(Path(name).name) > 1 else Path(name).name
        way = Way(title, "pretrained", request, data, work, values={_START: name})
        try:
            encoder_origin(name)
            _ = way.job({"protocol": {"name": "semi_supervised", "label_rate": 1.0}}, (), 0).plan
        except AdgclError as error:
            if name in encoders:
                raise
            skipped.append(f"The packaged encoder {name} is left out. {error.message}")
        else:
            found.append(way)
    return found, skipped
