"""What to try next: the starting settings first, then what Optuna's TPE suggests, and nothing twice."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping
from typing import Any

from adgcl.core.extras import import_extra
from adgcl.core.ranges import Range
from adgcl.core.seeds import derived_seed

Values = dict[str, Any]
Space = Mapping[str, Range]
# How often to ask for something new before listing all that is left.
_PATIENCE = 50


def distributions(space: Space) -> dict[str, Any]:
    """The ranges in Optuna's terms."""
    kinds = import_extra("optuna.distributions", "tune", "A search for settings")
    return {name: _distribution(kinds, range_) for name, range_ in space.items()}


def suggested(trial: Any, space: Space) -> Values:
    """The values of a trial; those it has already are read, not drawn again."""
    values = {}
    for name, range_ in space.items():
        if range_.choices:
            values[name] = trial.suggest_categorical(name, range_.choices)
        elif range_.integer:
            values[name] = trial.suggest_int(name, int(range_.low), int(range_.high), log=range_.log)
        else:
            values[name] = trial.suggest_float(name, range_.low, range_.high, log=range_.log)
    return values


def combinations(space: Space) -> float:
    """How many different trials there can be."""
    return math.prod(math.inf if (size := range_.size) is None else size for range_ in space.values())


def make_sampler(space: Space, seed: int, first: Values | None) -> Any:
    """A sampler that depends on the seed, the number of the trial and the trials so far, not on who asks.

    Two processes with the same seed would otherwise draw the same random numbers, and so try the same settings. `first`
    is what the first trial gets.
    """
    optuna = import_extra("optuna", "tune", "A search for settings")

    class Sampler(optuna.samplers.BaseSampler):  # type: ignore[misc,name-defined]
        # The whole study, once it is open: some pruners show a sampler a part of it only.
        whole: Any = None

        def infer_relative_search_space(self, study: Any, trial: Any) -> dict[str, Any]:
            return distributions(space)

        def sample_relative(self, study: Any, trial: Any, search_space: dict[str, Any]) -> Values:
            if trial.number == 0 and first is not None:
                return first
            tried = _tried(self.whole or study, trial)
            for attempt in range(_PATIENCE):
                values = self._draw(study, trial, search_space, attempt)
                if values not in tried:
                    return values
            return _untried(space, tried) or values

        def sample_independent(self, study: Any, trial: Any, name: str, distribution: Any) -> Any:
            raise TypeError(f"{name} is not in the space of this search")

        def _draw(self, study: Any, trial: Any, search_space: dict[str, Any], attempt: int) -> Values:
            drawn = derived_seed(seed, "trial", trial.number, attempt) % 2**32
            # Running trials count as poor ones, so that two processes do not look in the same corner.
            tpe = optuna.samplers.TPESampler(seed=drawn, multivariate=True, constant_liar=True)
            values = tpe.sample_relative(study, trial, search_space)
            for name, distribution in search_space.items():
                if name not in values:
                    values[name] = tpe.sample_independent(study, trial, name, distribution)
            return {name: space[name].tidy(value) for name, value in values.items()}

    return Sampler()


def _tried(study: Any, trial: Any) -> list[Values]:
    return [other.params for other in study.get_trials(deepcopy=False) if other.number != trial.number]


def _untried(space: Space, tried: Iterable[Values]) -> Values | None:
    """The first combination that nobody has tried, of a space with finitely many; None if there is none."""
    if math.isinf(combinations(space)):
        return None
    known = list(tried)
    found = itertools.product(*(range_.values for range_ in space.values()))
    return next((values for row in found if (values := dict(zip(space, row))) not in known), None)


def _distribution(kinds: Any, range_: Range) -> Any:
    if range_.choices:
        return kinds.CategoricalDistribution(range_.choices)
    if range_.integer:
        return kinds.IntDistribution(int(range_.low), int(range_.high), log=range_.log)
    return kinds.FloatDistribution(range_.low, range_.high, log=range_.log)
