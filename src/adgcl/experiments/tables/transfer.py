"""Rows of a transfer table: every way of pre-training runs once, and all data sets are fine-tuned from its encoder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from adgcl.core.config import merged
from adgcl.core.errors import ConfigError
from adgcl.experiments.jobs import FOLDER, Job, in_words
from adgcl.experiments.planning import Request
from adgcl.experiments.presets import named_preset, presets
from adgcl.experiments.source import LoadedSource, Source
from adgcl.protocols.pretraining import Pretraining
from adgcl.protocols.selection import Mode
from adgcl.protocols.starts import NO_PRETRAINING
from adgcl.training.start import find_encoder

DEFAULT_CORPUS = "ZINC-250K"
_START = "training.start_from"
_SEED = 0  # All published runs share one pre-training, with this seed; what follows has a seed of its own.


@dataclass(frozen=True)
class _Field:
    """A field of science: the ending of its presets for pre-training, and its only corpus, if it has one."""

    ending: str
    corpus: str = ""


_FIELDS = {"moleculenet": _Field("transfer"), "ppi": _Field("ppi", "PPI-306K")}


@dataclass(frozen=True)
class Transfer:
    """Where rows get their encoders: from `runs` that are there, or else by pre-training on a corpus.

    `settings` are `key=value` assignments for pre-training.
    """

    work: Path
    corpus: str = DEFAULT_CORPUS
    settings: tuple[str, ...] = ()
    runs: Mapping[str, str] = field(default_factory=dict)
    threads: int = 0
    data_dir: Path | None = None
    progress: Any = None

    def tune(self, row: str) -> Mapping[str, list[Any]]:
        """The settings of pre-training among which a row chooses: none, as pre-training on a corpus takes hours."""
        return {}

    def job(self, row: str, asked: Request, data: LoadedSource, seed: int, trial: Mapping[str, Any]) -> Job:
        """The fine-tuning of one seed, from the encoder of its row."""
        family = data.content.origin.family
        if family not in _FIELDS:
            raise ConfigError(
                f"Tables about transfer have no settings for {data.name}.", f"Use `adgcl finetune RUN {data.name}`."
            )
        mode = asked.flags["protocol"]["mode"]
        flags = merged({"protocol": self._rules(row, family, mode)}, asked.flags)
        request = Request("supervised", asked.config, flags, asked.assignments)
        if row in self.runs:
            find_encoder(self.runs[row])
            return Job(request, data, seed, self.work, values={_START: self.runs[row]}, label=row)
        needs = self._pretraining(row, family, mode, trial)
        return Job(request, data, seed, self.work, needs=needs, take={_START: FOLDER}, label=f"{row}{in_words(trial)}")

    def _rules(self, row: str, family: str, mode: str) -> Mapping[str, Any]:
        """How the row's fine-tuning was evaluated for its published figures: papers differ in the epoch they report."""
        preset = presets().get(f"{row}-{_FIELDS[family].ending}")
        return preset.finetuning if preset is not None and mode == "as_published" else {}

    def _pretraining(self, row: str, family: str, mode: str, trial: Mapping[str, Any]) -> Job:
        known = _FIELDS[family]
        preset = f"{row}-{known.ending}"
        if preset not in presets():
            raise ConfigError(
                f"There is no preset for pre-training by {row} for {family} data.",
                f"Pre-train it yourself with `adgcl pretrain`, and add --encoder {row}=RUN.",
            )
        corpus = self._corpora.open(known.corpus or self.corpus)
        return pretraining_job(preset, corpus, _SEED, self.work, mode, self.settings, self.threads, trial)

    def seeds_differ(self, row: str, mode: Mode) -> bool:
        """All of them do, since heads and dropout do."""
        return True

    def provides(self, row: str) -> bool:
        """Whether a row starts from an encoder; others train from scratch."""
        return row != NO_PRETRAINING

    @cached_property
    def _corpora(self) -> _Corpora:
        return _Corpora(self.data_dir, self.progress)


@dataclass
class _Corpora:
    """Loads each corpus once, and only if some row needs it."""

    data_dir: Path | None
    progress: Any
    _loaded: dict[str, LoadedSource] = field(default_factory=dict)

    def open(self, name: str) -> LoadedSource:
        if name not in self._loaded:
            self._loaded[name] = LoadedSource.of(Source(name, self.data_dir).unlabelled, self.progress)
        return self._loaded[name]


def pretraining_job(
    preset: str,
    data: LoadedSource,
    seed: int,
    work: Path,
    mode: str,
    settings: tuple[str, ...] = (),
    threads: int = 0,
    trial: Mapping[str, Any] | None = None,
) -> Job:
    """Pre-training by a preset, with the settings of a trial; where both modes pre-train alike, they share one run."""
    row = named_preset(preset)
    shared = mode if row.as_published else "as_published"
    flags = {"protocol": {"mode": shared}, "training": {"threads": threads}}
    request = Request(row.method, None, flags, settings, preset)
    return Job(request, data, seed, work, Pretraining.name, dict(trial or {}), label=f"pre-training {row.row}")


def parse_runs(assignments: tuple[str, ...]) -> dict[str, str]:
    """`ROW=RUN` assignments as a dictionary."""
    pairs = [assignment.partition("=") for assignment in assignments]
    for row, equals, run in pairs:
        if not (row and equals and run):
            raise ConfigError(
                f"--encoder {row}{equals}{run} is not of the form ROW=RUN.", "Say --encoder adgcl=runs/zinc."
            )
    return {row.strip(): run.strip() for row, _, run in pairs}
