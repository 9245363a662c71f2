"""Evaluating a model: the scores of its members together, what their predictions are worth, and where they apply."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from adgcl.core.schema import Task
from adgcl.data.dataset import Dataset
from adgcl.experiments.model.domain import Domain, fit_domain
from adgcl.experiments.model.ensemble import ask
from adgcl.experiments.model.held_out import HeldOut, across_folds, calibrate_on
from adgcl.experiments.model.members import Roster, held_out_groups
from adgcl.graphs.store.store import GraphStore
from adgcl.methods.supervised import Supervised
from adgcl.protocols.fold_training import scorable
from adgcl.protocols.parts import score_part
from adgcl.protocols.solvers.arrays import Ints
from adgcl.training.fitting import fit_features


@dataclass(frozen=True, eq=False)
class Judged:
    """Scores of the members together, how predictions are calibrated and checked, and the domain."""

    scores: dict[str, float | None]
    calibration: dict[str, Any]
    domain: Domain


def judge_model(dataset: Dataset, roster: Roster, members: Sequence[Supervised]) -> Judged:
    """What the members are worth together."""
    store, task = fit_features(dataset.store, members[0].spec), dataset.task
    learned = np.unique(np.concatenate([member.part.train for member in roster.members]))
    domain, group = fit_domain(ask(members[:1], store.select(learned)).embedding), held_out_groups(dataset, roster)
    valid, test = (_held_out(store, roster, members, which, domain, group) for which in ("valid", "test"))
    scores = {name: _score(task, part) for name, part in (("valid", valid), ("test", test))}
    if roster.shared:
        calibration = calibrate_on(task, valid, [(valid, test)])
    else:
        calibration = calibrate_on(task, test, across_folds(test, [len(ids) for ids in roster.held_out("test")]))
    return Judged(scores, calibration, domain)


def _held_out(
    store: GraphStore, roster: Roster, members: Sequence[Supervised], which: str, domain: Domain, group: Ints
) -> HeldOut:
    """On shared parts all members speak; else each member about the graphs that were held out from it."""
    assert store.y is not None
    parts = roster.held_out(which)
    rows = parts[0] if roster.shared else np.concatenate(parts)
    if roster.shared:
        answers = ask(members, store.select(rows))
        mean, spread, distance = answers.mean, answers.spread, domain.distances(answers.embedding)
    else:
        each = [ask([member], store.select(ids)) for member, ids in zip(members, parts, strict=True)]
        mean, spread = (np.concatenate([getattr(one, name) for one in each]) for name in ("mean", "spread"))
        distance = np.full(len(mean), np.nan)
    return HeldOut(mean, spread, distance, store.y[rows], group[rows])


def _score(task: Task, part: HeldOut) -> float | None:
    value = score_part(task, part.y, scorable(part.mean, task, border=0.5))
    return None if np.isnan(value) else round(value, 6)
