"""Timing: two versions of the same work run alternately, the best time of each, and the ratio."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Measurement:
    """One row of the benchmark: `ratio` is plain / ours for times, and what `unit` says otherwise.

    `measured` is the date and `machine` the processor of a saved row.
    """

    name: str
    ratio: float
    target: float | None
    ours: float
    plain: float | None
    unit: str
    measured: str = ""
    machine: str = ""

    @property
    def reached(self) -> bool:
        return self.target is None or self.ratio >= self.target

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def seconds(work: Callable[[], object]) -> float:
    """How long one call takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def in_turns(works: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Run each in turn for several rounds and keep the best of each, so that disturbances affect all alike."""
    best = dict.fromkeys(works, float("inf"))
    for work in works.values():
        work()
    for _ in range(rounds):
        for name, work in works.items():
            best[name] = min(best[name], seconds(work))
    return best


def compared(name: str, plain: float, ours: float, target: float | None, unit: str) -> Measurement:
    """A ratio of two times, rounded for people."""
    return Measurement(name, round(plain / ours, 2), target, round(ours, 5), round(plain, 5), unit)


def within(name: str, value: float, limit: float, unit: str) -> Measurement:
    """A row whose ratio says how many times the value fits into its limit."""
    return Measurement(f"{name} (limit {limit:g} {unit})", round(limit / value, 2), 1.0, round(value, 3), None, unit)


def kernel_shares(work: Callable[[], object]) -> dict[str, float]:
    """The share of each kernel in the time of `work`, per cent, by the profiler's names."""
    import torch

    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        work()
    times = {event.key: event.self_cpu_time_total for event in profile.key_averages()}
    return {name: 100 * time / sum(times.values()) for name, time in times.items()}
