"""Search: a study that many processes work on, none of them twice on the same trial."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from adgcl.core.config import Tree, differences
from adgcl.core.errors import ConfigError
from adgcl.core.locks import BusyError, locked, locked_file
from adgcl.core.ranges import Range
from adgcl.experiments.jobs import Job
from adgcl.experiments.planning import Plan, Request
from adgcl.experiments.source import Source
from adgcl.experiments.tuning.development import Development
from adgcl.experiments.tuning.sampler import Values, combinations, make_sampler, suggested
from adgcl.experiments.tuning.space import make_space, value_at
from adgcl.experiments.tuning.storage import Storage, explained, import_optuna, open_storage, public_address
from adgcl.graphs.store.fingerprint import fingerprint
from adgcl.protocols.identity import settings_of

PRUNERS = ("median", "hyperband", "none")
_ESSENCE, _PLACE = "adgcl", "place"
# Trials that finish before any is pruned.
_STARTUP = 5


@dataclass(frozen=True)
class SearchRequest:
    """What is searched, on which data, how, and where it is kept; every process of a search gets the same."""

    source: Source
    request: Request
    trials: int
    out: Path
    searched: tuple[str, ...] = ()
    seed: int = 0
    pruner: str = "median"
    storage: str = ""
    study: str = "adgcl"
    work: Path = Path("runs")
    command: str = ""

    def __post_init__(self) -> None:
        if self.trials < 1:
            raise ConfigError(f"A search needs at least one trial, not {self.trials}.", "Say --trials 20.")
        if self.pruner not in PRUNERS:
            raise ConfigError(f"There is no pruner called {self.pruner!r}.", f"Use {', '.join(PRUNERS)}.")

    @property
    def where(self) -> str:
        """The address of the storage, or the path of the journal."""
        return self.storage or str(self.out / "journal.log")


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
    def over(self) -> bool:
        """Whether no further trial may begin."""
        return len(self.trials) >= min(self.request.trials, combinations(self.space))

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


@dataclass(frozen=True)
class Settled:
    """What a search will be about: its data, the settings it starts from, and its ranges."""

    request: Request
    data: Development
    base: Plan
    space: dict[str, Range]

    @property
    def start(self) -> Values:
        """The values of the searched settings at the start."""
        tree = self.base.run.to_tree()
        return {name: value_at(tree, name) for name in self.space}


def settle(request: SearchRequest, progress: Any = None) -> Settled:
    """Load the data and check every setting; nothing is begun yet."""
    import_optuna()
    data = Development.of(request.source, progress)
    asked = request.request.with_flags({"protocol": {"mode": "strict"}})
    base = Job(asked, data, request.seed, request.work).plan
    _check(base, data)
    return Settled(asked, data, base, make_space(base, request.request, request.searched))


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
        _check_essence(study, _essence(request, data, base, space), request)
    return Search(replace(request, request=settled.request), data, base, space, storage, study)


def _check(base: Plan, data: Development) -> None:
    if not base.protocol.evaluates:
        raise ConfigError(f"The protocol {base.protocol.name!r} evaluates nothing.", "Name another with --protocol.")
    if base.judging.mode != "strict":
        raise ConfigError(
            "A search looks at validation data alone, so it evaluates in strict mode.", "Leave out the mode."
        )
    base.protocol.check_data(data.seen(base.run.data))


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
    settings = settings_of(base.run, base.protocol)
    for name in space:
        *path, last = name.split(".")
        place = settings
        for part in path:
            place = place[part]
        place.pop(last, None)
    seen = data.seen(base.run.data)
    return {
        "data": {"name": data.name, "fingerprint": fingerprint(seen.store)[:16], "split": request.source.split},
        "method": base.row,
        "settings": settings,
        "ranges": {name: str(range_) for name, range_ in space.items()},
        "seed": request.seed,
        "pruner": request.pruner,
    }


def _check_essence(study: Any, essence: Tree, request: SearchRequest) -> None:
    essence = json.loads(json.dumps(essence))
    known = study.user_attrs.get(_ESSENCE)
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
