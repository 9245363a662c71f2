"""Estimates: how long a job will take, from similar finished jobs or else from the size of its data."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from statistics import median

from adgcl.experiments.jobs import Job

_TELLING = 0.03  # the share of a job after which its pace tells more than an estimate


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


@dataclass
class Pace:
    """How far a running job is: by what was estimated when it began, then by the steps that it reports."""

    estimate: float
    began: float
    _first: tuple[float, float] | None = None
    _last: tuple[float, float] | None = None

    def hear(self, share: float, now: float) -> None:
        """Take in the share of all steps that is done; a resumed job begins with more than none."""
        self._first = self._first or (now, share)
        self._last = (now, share)

    def seconds_left(self, now: float) -> float:
        """Its own pace knows of a busy machine and slow data, as no estimate does."""
        if self._first is None or self._last is None or self._last[1] - self._first[1] < _TELLING:
            return max(self.estimate - (now - self.began), 0.0)
        (first, begun), (last, done) = self._first, self._last
        return max((1 - done) * (last - first) / (done - begun) - (now - last), 0.0)


def _place(job: Job) -> str:
    """Jobs that differ only in seed or trial values take equally long."""
    return f"{_kind(job)}/{job.data.name}/{job.outline.judging.mode}/{job.outline.run.training.epochs}"


def _kind(job: Job) -> str:
    planned = job.outline
    return f"{planned.run.method.name}/{planned.judging.name}/{planned.protocol.scores}"
