"""Estimates: how long a job will take, from similar finished jobs or else from the size of its data."""

from __future__ import annotations

from collections import defaultdict
from statistics import median

from adgcl.experiments.jobs import Job


def guess(job: Job) -> float:
    """Seconds that a job should take, estimated by its protocol from the size of its data and networks."""
    planned = job.outline
    return planned.protocol.seconds(planned.run, job.data.seen(planned.run.data).store)


class Estimates:
    """Learns from finished jobs how far the guesses are off."""

    def __init__(self) -> None:
        self._seconds: dict[str, list[float]] = defaultdict(list)
        self._ratios: dict[str, list[float]] = defaultdict(list)

    def learn(self, job: Job) -> None:
        """Take a finished job into account."""
        result = job.result()
        if result is None or result.seconds <= 0:
            return
        self._seconds[_place(job)].append(result.seconds)
        for kind in (_kind(job), ""):
            self._ratios[kind].append(result.seconds / max(guess(job), 1e-3))

    def seconds(self, job: Job) -> float:
        """The time left for an unfinished job."""
        if not job.ready:
            return self._whole(job)
        if job.problem is not None:
            return 0.0
        return self._whole(job) * (1 - job.trained)

    def _whole(self, job: Job) -> float:
        if known := self._seconds.get(_place(job)):
            return median(known)
        ratios = self._ratios.get(_kind(job)) or self._ratios.get("")
        return guess(job) * (median(ratios) if ratios else 1.0)


def _place(job: Job) -> str:
    """Jobs that differ only in seed or trial values take equally long."""
    return f"{_kind(job)}/{job.data.name}/{job.outline.judging.mode}/{job.outline.run.training.epochs}"


def _kind(job: Job) -> str:
    planned = job.outline
    return f"{planned.run.method.name}/{planned.judging.name}/{planned.protocol.scores}"
