"""Tuning: one of several settings is chosen by the scores that choose the epoch: on validation data, unless leaky."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from adgcl.protocols.seed_run import SeedRun
from adgcl.protocols.selection import Evaluation, Mode, select

Values = Mapping[str, Any]


@dataclass(frozen=True)
class Choice:
    """What one seed chose: one trial as published, one per fold in strict mode; and every trial's validation score."""

    chosen: tuple[Values, ...]
    candidates: tuple[tuple[Values, float], ...]

    def to_json(self) -> dict[str, Any]:
        candidates = [{**values, "valid": valid} for values, valid in self.candidates]
        chosen = [dict(values) for values in self.chosen]
        return {"chosen": chosen[0] if len(chosen) == 1 else chosen, "candidates": candidates}


def choose(
    trials: Sequence[tuple[Values, SeedRun]], probe: str, mode: Mode, higher_is_better: bool, scale: float = 1.0
) -> Choice:
    """Choose among trials as epochs are chosen: by the mean over folds as published, fold by fold in strict mode."""
    owners: list[Values] = []
    pooled: list[Evaluation] = []
    for values, run in trials:
        for evaluation in _of(run, probe):
            # The position in the pool replaces the epoch, so that the selection names its choices by it.
            pooled.append(replace(evaluation, epoch=len(pooled)))
            owners.append(values)
    places = select(pooled, mode, higher_is_better).epochs
    scores = [(values, run.selected(probe, mode, higher_is_better).valid) for values, run in trials]
    return Choice(
        tuple(owners[place] for place in places),
        tuple((values, round(valid * scale, 6)) for values, valid in scores),
    )


def pool(runs: Sequence[SeedRun]) -> SeedRun:
    """All trials of a seed as one run with many evaluations: its selection is the choice, its cost that of all."""
    return SeedRun(
        runs[0].seed,
        tuple(evaluation for run in runs for evaluation in run.evaluations),
        {},
        round(sum(run.seconds for run in runs), 2),
        max(run.peak_memory_mb for run in runs),
        " and ".join(sorted({run.step for run in runs})),
    )


def _of(run: SeedRun, probe: str) -> list[Evaluation]:
    return [evaluation for evaluation in run.evaluations if evaluation.probe == probe]
