"""One trial: train with its values, let validation data score it on the way, and stop early what is not worth it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from math import isnan
from typing import Any

from adgcl.core.errors import AdgclError, Interrupted, OutputError
from adgcl.core.locks import BusyError, locked
from adgcl.experiments.jobs import Job
from adgcl.experiments.tuning.sampler import Values
from adgcl.experiments.tuning.search import Search, open_search
from adgcl.experiments.tuning.settling import SearchRequest
from adgcl.experiments.tuning.storage import StorageError, explained, import_optuna
from adgcl.graphs.store.fingerprint import fingerprint
from adgcl.jobs.executor import Send
from adgcl.protocols.identity import claim
from adgcl.protocols.seed_run import SeedRun
from adgcl.training.trackers import Messenger, StepReport, Tracker

_LOOK_AGAIN = 1.0  # seconds before trials that other processes run are looked at again
# What is wrong with the machine or stops the search is no result of a trial.
_NOT_ITS_FAULT = (Interrupted, OutputError, BusyError, StorageError, KeyboardInterrupt)


@dataclass(frozen=True)
class News:
    """What a process of a search has to say: a trial `began`, made `progress`, or `ended`."""

    kind: str
    number: int
    report: StepReport | None = None


class Pruning:
    """Gives validation scores to Optuna, which may say that the trial is not worth its time.

    `epochs` is how many a network trains for. After the last score there is no time to be saved.
    """

    def __init__(self, search: Search, trial: Any, epochs: int) -> None:
        self.search, self.trial, self.epochs, self.last = search, trial, epochs, 0
        # What the trial reported before its process died.
        self.known = set(search.trials[trial.number].intermediate_values)

    def start(self, epochs: int, steps: int, done: int) -> None:
        networks = epochs // max(self.epochs, 1)
        self.last = networks if networks > 1 else epochs

    def step(self, report: StepReport) -> None:
        pass

    def epoch(self, row: dict[str, Any]) -> None:
        pass

    def evaluated(self, step: int, scores: Mapping[str, float]) -> None:
        value = scores.get(self.search.score, float("nan"))
        if isnan(value):
            return
        with explained(self.search.request.where):
            if step not in self.known:
                self.trial.report(value, step)
            hopeless = step < self.last and self.trial.should_prune()
        if hopeless:
            raise import_optuna().TrialPruned

    def stop(self) -> None:
        pass


def work_on(request: SearchRequest, send: Send) -> None:
    """Run trials until there are enough, beside whoever else works on the same search; to be run by an executor."""
    run_trials(open_search(request), send)


def run_trials(search: Search, send: Send) -> None:
    """The same for a search that is open. Trials of processes that die meanwhile are taken up, too."""
    while True:
        with search.claimed() as found:
            if found is not None:
                _run(search, *found, send)
                continue
        if search.over and not search.running()[0]:
            return
        time.sleep(_LOOK_AGAIN)


def _run(search: Search, trial: Any, values: Values, send: Send) -> None:
    number, job = trial.number, search.job(values)
    send(News("began", number))
    try:
        result = _result(search, trial, job, send)
        value = job.plan.protocol.select(result, search.score, search.higher_is_better).valid
        if isnan(value):
            raise AdgclError("Validation data gave it no score.")
        with explained(search.request.where):
            trial.set_user_attr("seconds", result.seconds)
        search.end(trial, "COMPLETE", value)
    except import_optuna().TrialPruned:
        search.end(trial, "PRUNED")
    except _NOT_ITS_FAULT:
        raise
    except Exception as error:
        with explained(search.request.where):
            trial.set_user_attr("reason", reason(error))
        search.end(trial, "FAIL")
    send(News("ended", number))


def _result(search: Search, trial: Any, job: Job, send: Send) -> SeedRun:
    """The finished seed; one that an earlier command has finished is not trained again."""
    if job.problem is not None:
        raise job.problem
    planned, watch = job.plan, Pruning(search, trial, job.plan.run.training.epochs)
    if (finished := job.result()) is not None:
        with explained(search.request.where):
            for evaluation in finished.evaluations:
                # Trials that train a network for each fold report after each fold, which is not known here.
                by_fold = planned.protocol.learns_from_labels and len(evaluation.valid_folds) > 1
                if evaluation.probe == search.score and not isnan(evaluation.valid) and not by_fold:
                    trial.report(evaluation.valid, evaluation.epoch)
        return finished
    messages = Messenger(lambda report: send(News("progress", trial.number, report)))
    with locked(job.folder, wait=True):
        claim(job.folder.parent, planned.run, planned.protocol, fingerprint(job.dataset.store))
        trackers: list[Tracker] = [messages, *planned.run.make_trackers(job.folder), watch]
        return planned.protocol.run_seed(job.dataset, planned.run, folder=job.folder, trackers=trackers)


def reason(error: Exception) -> str:
    """Why a trial failed, in a sentence."""
    if isinstance(error, MemoryError):
        return "There was not enough memory."
    text = (str(error).strip() or type(error).__name__).splitlines()[0]
    return text if isinstance(error, AdgclError) else f"{type(error).__name__}: {text}"
