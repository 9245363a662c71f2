"""Estimates: how long a job will take, from finished ones like it or else from the size of its data."""

from __future__ import annotations

from collections import defaultdict
from statistics import median

from adgcl.experiments.jobs import Job

# Seconds on one core of a plain server, measured with AD-GCL: a step as such, a node times width squared, an edge
# times width, and a graph that a probe judges. Only ratios matter once a job is finished.
_STEP, _NODE, _EDGE, _GRAPH = 0.008, 2e-8, 2e-8, 1e-3


def guess(job: Job) -> float:
    """Seconds that a job should take, by the size of its data and networks."""
    run, protocol = job.plan.run, job.plan.protocol
    store = job.column.seen(run.data).store
    nodes, edges, graphs = len(store.in_degree), len(store.edge_source), len(store)
    width = run.encoder.hidden_dim
    epoch = _STEP * -(-graphs // run.training.batch_size) + _NODE * nodes * width**2 + _EDGE * edges * width
    judgements = max(run.training.epochs // protocol.evaluate_every, 1)
    return run.training.epochs * epoch + judgements * (_GRAPH * graphs * len(protocol.probes) + epoch / 5)


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
        """What is left of a job that is not finished; one that cannot be planned yet counts like its source."""
        if not job.ready:
            assert job.source is not None
            return self.seconds(job.source)
        if job.problem is not None:
            return 0.0
        return self._whole(job) * (1 - job.trained)

    def _whole(self, job: Job) -> float:
        if known := self._seconds.get(_place(job)):
            return median(known)
        ratios = self._ratios.get(_kind(job)) or self._ratios.get("")
        return guess(job) * (median(ratios) if ratios else 1.0)


def _place(job: Job) -> str:
    """Jobs that differ in seed or values on trial alone take equally long."""
    return f"{_kind(job)}/{job.column.name}/{job.mode}/{job.plan.run.training.epochs}"


def _kind(job: Job) -> str:
    return f"{job.plan.run.method.name}/{job.plan.protocol.probes}"
