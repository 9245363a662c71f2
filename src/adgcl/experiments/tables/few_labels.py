"""Rows of a semi-supervised table: every way of pre-training runs once per seed and data set, and serves both modes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adgcl.core.errors import ConfigError
from adgcl.experiments.jobs import FOLDER, Job, in_words
from adgcl.experiments.planning import Request
from adgcl.experiments.presets import ENDINGS, Preset, named_preset, presets
from adgcl.experiments.source import LoadedSource
from adgcl.experiments.tables.transfer import pretraining_job
from adgcl.methods.base import METHODS
from adgcl.protocols.selection import Mode
from adgcl.protocols.semi_supervised import SemiSupervised

ENDING = ENDINGS[SemiSupervised.name]
_START = "training.start_from"


@dataclass(frozen=True)
class FewLabels:
    """Where rows get their encoders: by pre-training on the graphs of their own data set, with `settings`."""

    work: Path
    settings: tuple[str, ...] = ()
    threads: int = 0

    def provides(self, row: str) -> bool:
        """Every row, also those that train from scratch, has a preset for few labels."""
        return True

    def seeds_differ(self, row: str, mode: Mode) -> bool:
        """Whether what is learned, or the labels shown, are random."""
        method = named_preset(f"{row}-{ENDING}").method if f"{row}-{ENDING}" in presets() else ""
        return not (method in METHODS and METHODS[method].deterministic and mode == "as_published")

    def tune(self, row: str) -> Mapping[str, list[Any]]:
        """The settings of pre-training among which a row chooses."""
        return self._preset(row).tune

    def job(self, row: str, asked: Request, data: LoadedSource, seed: int, trial: Mapping[str, Any]) -> Job:
        """One seed of a row: learning from few labels, after pre-training if the row has any."""
        preset = self._preset(row)
        method = METHODS[preset.method]
        if method.needs_labels or not method.trains:
            return Job(self._request(row, preset.name, asked), data, seed, self.work, label=row)
        mode = asked.flags["protocol"]["mode"]
        needs = pretraining_job(preset.name, data, seed, self.work, mode, self.settings, self.threads, trial)
        request = self._request("supervised", f"supervised-{ENDING}", asked)
        return Job(request, data, seed, self.work, needs=needs, take={_START: FOLDER}, label=f"{row}{in_words(trial)}")

    def _preset(self, row: str) -> Preset:
        name = f"{row}-{ENDING}"
        if name not in presets():
            raise ConfigError(
                f"There is no preset for few labels and {row}.",
                "`adgcl methods` lists the presets; those for few labels end in -semi.",
            )
        return named_preset(name)

    def _request(self, row: str, preset: str, asked: Request) -> Request:
        return Request(row, asked.config, asked.flags, asked.assignments, preset)
