"""Search: a study that many processes work on, none of them twice on the same trial."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from adgcl.core.config import Tree, differences
from adgcl.core.errors import ConfigError
from adgcl.core.locks import BusyError, locked, locked_file
from adgcl.core.ranges import Range
from adgcl.experiments.jobs import Job
from adgcl.experiments.planning import Plan, Request
from adgcl.experiments.tuning.development import Development
from adgcl.experiments.tuning.sampler import Values, combinations, make_sampler, suggested
from adgcl.experiments.tuning.settling import SearchRequest, settle, values_at
from adgcl.experiments.tuning.storage import Storage, explained, import_optuna, open_storage, public_address
from adgcl.graphs.store.fingerprint import fingerprint
from adgcl.protocols.identity import read_settings, settings_of

_ESSENCE, _PLACE = "adgcl", "place"
# Trials that finish before any is pruned.
_STARTUP = 5


@dataclass(eq=False)
class Search:
    """An open search: its data without test labels, where it starts, its ranges, and the study of its trials."""

    request: SearchRequest
    data: Development
    base: Plan
    space: dict[str, Range]
    storage: Storage
    study: Any = field(repr=False)

    @property
    def score(self) -> str:
        """Which of the protocol's scores the search improves."""
        return self.base.protocol.scores[0]

    @property
    def higher_is_better(self) -> bool:
        return self.data.content.task.higher_is_better

    @property
    def start(self) -> Values:
        """The values of the searched settings where it starts."""
        return values_at(self.base, self.space)

    def job(self, values: Mapping[str, Any]) -> Job:
        """One seed with these values, on the data that a search sees."""
        return Job(self.request.request, self.data, self.request.seed, self.request.work, values=values)

    @property
    def preset(self) -> Plan:
        """The settings of the method for this kind of data, without any that the user gave."""
        strict = {"protocol": {"mode": "strict"}}
        return Job(Request(self.base.row, flags=strict), self.data, self.request.seed, self.request.work).plan

    @property
    def trials(self) -> list[Any]:
        """Every trial so far, in order."""
        with explained(self.request.where):
            return list(self.study.get_trials(deepcopy=False))

    @property
    def wanted(self) -> int:
        """How many trials there will be: as many as asked for, or all that there can be."""
        return int(min(self.request.trials, combinations(self.space)))

    @property
    def over(self) -> bool:
        """Whether no further trial may begin."""
        return len(self.trials) >= self.wanted

    @contextmanager
    def claimed(self) -> Iterator[tuple[Any, Values] | None]:
        """A trial for this process alone, and its values; None if there is none to begin now.

        First come those whose process has died, then new ones. The system frees the claim of a process that dies.
        """
        with ExitStack() as stack:
            with locked(self.storage.claims, wait=True), explained(self.request.where):
                trial = self._left_behind(stack) or self._begun(stack)
                found = None if trial is None else (trial, suggested(trial, self.space))
            yield found

    def end(self, trial: Any, state: str, value: float | None = None) -> None:
        """Record how a trial ended: `COMPLETE` with its value, `PRUNED`, or `FAIL`."""
        with explained(self.request.where):
            self.study.tell(trial, value, state=getattr(import_optuna().trial.TrialState, state))

    def running(self) -> tuple[int, int]:
        """How many trials other processes are running: of this folder, and elsewhere."""
        open_ones = [trial for trial in self.trials if not trial.state.is_finished()]
        here = sum(trial.user_attrs.get(_PLACE, "") == self.storage.place for trial in open_ones)
        return here, len(open_ones) - here

    def _left_behind(self, stack: ExitStack) -> Any:
        """A trial that no living process works on."""
        for trial in self.study.get_trials(deepcopy=False):
            if not trial.state.is_finished() and trial.user_attrs.get(_PLACE, "") == self.storage.place:
                try:
                    stack.enter_context(self._claim(trial.number))
                except BusyError:
                    continue
                # Optuna has no other way to take up a trial that is known by its number.
                return import_optuna().trial.Trial(self.study, trial._trial_id)
        return None

    def _begun(self, stack: ExitStack) -> Any:
        """A new trial, unless there are enough."""
        if self.over:
            return None
        trial = self.study.ask()
        if self.storage.place:
            trial.set_user_attr(_PLACE, self.storage.place)
        if trial.number >= self.request.trials:
            # Another folder was quicker: a storage at an address is not locked by ours.
            trial.set_user_attr("reason", "more trials than were asked for")
            self.study.tell(trial, state=import_optuna().trial.TrialState.FAIL)
            return None
        stack.enter_context(self._claim(trial.number))
        return trial

    def _claim(self, number: int) -> Any:
        return locked_file(self.storage.claims / f"trial-{number}")


def open_search(request: SearchRequest, progress: Any = None) -> Search:
    """Load the data, check every setting, and open or begin the study; one of another search is refused."""
    settled = settle(request, progress)
    data, base, space, first = settled.data, settled.base, settled.space, settled.start
    storage = open_storage(request.where, request.out)
    sampler = make_sampler(space, request.seed, first if all(space[n].holds(v) for n, v in first.items()) else None)
    with locked(storage.claims, wait=True), explained(request.where):
        study = import_optuna().create_study(
            storage=storage.optuna,
            sampler=sampler,
            pruner=_pruner(request.pruner, base),
            study_name=request.study,
            direction="maximize" if data.content.task.higher_is_better else "minimize",
            load_if_exists=True,
        )
        sampler.whole = study
        _check_essence(study, _essence(request, data, base, space), request, base.judging.name)
    return Search(replace(request, request=settled.request), data, base, space, storage, study)


def _pruner(name: str, base: Plan) -> Any:
    """Median: worse than half of the others after as many epochs. Hyperband: the best third of a group goes on."""
    pruners = import_optuna().pruners
    if name == "none":
        return pruners.NopPruner()
    if name == "hyperband":
        every = getattr(base.judging, "evaluate_every", 1)
        return pruners.HyperbandPruner(min_resource=every, max_resource=max(base.run.training.epochs, every))
    return pruners.MedianPruner(n_startup_trials=_STARTUP)


def _essence(request: SearchRequest, data: Development, base: Plan, space: Mapping[str, Range]) -> Tree:
    """What trials must have in common to be compared; trials may be added, whatever their number."""
    settings = _without(settings_of(base.run, base.protocol), space)
    seen = data.seen(base.run.data)
    return {
        "data": {"name": data.name, "fingerprint": fingerprint(seen.store)[:16], "split": request.source.split},
        "method": base.row,
        "settings": settings,
        "ranges": {name: str(range_) for name, range_ in space.items()},
        "seed": request.seed,
        "pruner": request.pruner,
    }


def _without(settings: Tree, names: Iterable[str]) -> Tree:
    """Settings except those with these dotted names."""
    for name in names:
        *path, last = name.split(".")
        place = settings
        for part in path:
            place = place.get(part, {})
        place.pop(last, None)
    return settings


def _check_essence(study: Any, essence: Tree, request: SearchRequest, protocol: str) -> None:
    essence = json.loads(json.dumps(essence))
    known = study.user_attrs.get(_ESSENCE)
    if isinstance(known, Mapping) and isinstance(known.get("settings"), Mapping):
        # A search of an earlier version lacks the settings that came later, which have their defaults.
        known = {**known, "settings": _without(read_settings(known["settings"], protocol), essence["ranges"])}
    if known is None and not study.get_trials(deepcopy=False):
        study.set_user_attr(_ESSENCE, essence)
        return
    found = differences(known, essence) if isinstance(known, Mapping) else ["it was not begun by adgcl"]
    if found:
        more = f"; and {len(found) - 3} more" if len(found) > 3 else ""
        raise ConfigError(
            f"{public_address(request.where)} holds another search ({'; '.join(found[:3])}{more}).",
            "Choose another --out, --storage or --study.",
        )
