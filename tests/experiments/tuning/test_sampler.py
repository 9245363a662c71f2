"""What is tried: the start first, nothing twice, and the same whoever asks."""

from __future__ import annotations

import math
from typing import Any

import optuna
import pytest

from adgcl.core.ranges import Range
from adgcl.experiments.tuning.sampler import combinations, make_sampler, suggested

SPACE = {
    "a.rate": Range(1e-4, 1e-1, log=True),
    "a.depth": Range(1, 5, integer=True),
    "b.kind": Range(choices=("x", "y")),
}
FIRST = {"a.rate": 1e-3, "a.depth": 3, "b.kind": "y"}


def tried(space: dict, count: int, seed: int = 0, first: dict | None = None, pruner: Any = None) -> list[dict]:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    sampler = make_sampler(space, seed, first)
    study = optuna.create_study(sampler=sampler, pruner=pruner)
    sampler.whole = study
    found = []
    for _ in range(count):
        trial = study.ask()
        found.append(suggested(trial, space))
        study.tell(trial, sum(v for v in found[-1].values() if not isinstance(v, str)))
    return found


def test_the_start_comes_first_and_all_values_belong_to_their_range():
    found = tried(SPACE, 25, first=FIRST)
    assert found[0] == FIRST
    assert all(SPACE[name].holds(value) for values in found for name, value in values.items())
    assert all(value == SPACE[name].tidy(value) for values in found for name, value in values.items())


def test_a_seed_decides_everything():
    assert tried(SPACE, 15, seed=3) == tried(SPACE, 15, seed=3) != tried(SPACE, 15, seed=4)


def test_it_learns_from_trials():
    """The score is the sum: later trials should be nearer to its minimum than the first, random ones."""
    found = tried({"a.x": Range(0.0, 1.0), "a.y": Range(0.0, 1.0)}, 40)
    sums = [sum(values.values()) for values in found]
    assert sum(sums[20:]) / 20 < 0.6 * sum(sums[:10]) / 10


@pytest.mark.parametrize("pruner", [None, optuna.pruners.HyperbandPruner(1, 10)])
def test_a_small_space_is_tried_completely_and_nothing_twice(pruner: Any):
    space = {"a.depth": Range(1, 4, integer=True), "b.kind": Range(choices=("x", "y", "z"))}
    assert combinations(space) == 12 and math.isinf(combinations(SPACE))
    found = tried(space, 12, pruner=pruner)
    assert len({tuple(values.values()) for values in found}) == 12


def test_two_processes_with_one_seed_do_not_try_the_same():
    """Both ask before either has an answer, as they would in their first random trials."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    storage = optuna.storages.InMemoryStorage()
    asked = []
    for _ in range(2):
        sampler = make_sampler(SPACE, 0, None)
        study = optuna.create_study(storage=storage, sampler=sampler, study_name="one", load_if_exists=True)
        sampler.whole = study
        asked.append(suggested(study.ask(), SPACE))
    assert asked[0] != asked[1]
