"""Label curves: how well each way of learning does with how many labels, and what that means in words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from adgcl.reports import numbers
from adgcl.reports.table import EMPTY, Cell, Column, Row, Table

# The rate that sentences are about: the published one. Nothing is gained by looking for the most flattering.
_SPOKEN_OF = 0.1


@dataclass(frozen=True)
class Point:
    """The scores of all seeds with one number of labels, in the metric's printed unit."""

    rate: float
    labels: float
    values: tuple[float, ...]

    @property
    def mean(self) -> float:
        return float(np.mean(self.values))

    @property
    def std(self) -> float | None:
        """The sample standard deviation over seeds; None for one seed."""
        return float(np.std(self.values, ddof=1)) if len(self.values) > 1 else None


@dataclass(frozen=True)
class Curve:
    """One way of learning; `kind` says what it had before it saw a label: `none`, `pretrained`, or a `floor`.

    `scratch` says what the network from scratch is beside its own: `smaller`, `larger`, `other`, or nothing if equal.
    """

    name: str
    kind: str
    points: tuple[Point, ...]
    scratch: str = ""

    @property
    def rival(self) -> str:
        """What it is compared with, where that is not its own network without pre-training."""
        kind = "another" if self.scratch == "other" else f"a {self.scratch}"
        return f"{kind} network from scratch" if self.scratch else ""


@dataclass(frozen=True)
class LabelCurves:
    """All curves of one data set, and what had to be left out."""

    dataset: str
    metric: str
    higher_is_better: bool
    curves: tuple[Curve, ...]
    notes: tuple[str, ...] = ()

    @property
    def seeds(self) -> int:
        return max(len(point.values) for curve in self.curves for point in curve.points)

    @property
    def rates(self) -> tuple[float, ...]:
        return tuple(sorted({point.rate for curve in self.curves for point in curve.points}))

    def point(self, curve: Curve, rate: float) -> Point | None:
        return next((point for point in curve.points if point.rate == rate), None)

    def best(self, rate: float) -> float | None:
        """The best mean at a rate."""
        means = [point.mean for curve in self.curves if (point := self.point(curve, rate))]
        return None if not means else max(means) if self.higher_is_better else min(means)


def labels_needed(curve: Curve, score: float, higher_is_better: bool) -> float:
    """How many labels a curve needs for a score: interpolated between its points over the logarithm of the number.

    Infinite if it never gets there; at most its first number of labels if it starts better. A curve counts by the best
    it has reached so far, since more labels never have to hurt.
    """
    sign = 1.0 if higher_is_better else -1.0
    goal, before = sign * score, None
    for point in sorted(curve.points, key=lambda p: p.labels):
        reached = sign * point.mean if before is None else max(sign * point.mean, before[1])
        if reached >= goal:
            if before is None or reached == before[1]:
                return point.labels
            share = (goal - before[1]) / (reached - before[1])
            return math.exp((1 - share) * math.log(before[0]) + share * math.log(point.labels))
        before = (point.labels, reached)
    return math.inf


def sentences(found: LabelCurves) -> list[str]:
    """What the curves say, at the published rate or the one nearest to it."""
    scratch = next((curve for curve in found.curves if curve.kind == "none"), None)
    said = _about_pretraining(found, scratch) if scratch is not None else []
    floor = next((curve for curve in found.curves if curve.kind == "floor"), None)
    if floor is not None and len(found.curves) > 1:
        said.append(_against_floor(found, floor))
    return [*said, *(["One seed proves little."] if said and found.seeds == 1 else [])]


def _about_pretraining(found: LabelCurves, scratch: Curve) -> list[str]:
    said = []
    for curve in (curve for curve in found.curves if curve.kind == "pretrained"):
        shared = [point for point in curve.points if found.point(scratch, point.rate)]
        if shared:
            nearest = min(shared, key=lambda point: abs(math.log(point.rate / _SPOKEN_OF)))
            said.append(_compared(found, curve, scratch, nearest))
    return said


def _compared(found: LabelCurves, curve: Curve, scratch: Curve, point: Point) -> str:
    other = found.point(scratch, point.rate)
    assert other is not None
    gain = (point.mean - other.mean) * (1 if found.higher_is_better else -1)
    count, rival = f"{_count(point.labels)} labels", curve.rival
    sides = ("with it", "from scratch") if rival else ("with", "without")
    scores = ", ".join(f"{_score(found, mean)} {side}" for mean, side in zip((point.mean, other.mean), sides))
    if abs(gain) <= _noise(point, other):
        against = f" beside {rival}" if rival else ""
        return f"With {count}, {curve.name} makes no clear difference{against} ({scores})."
    if gain > 0:
        needed = labels_needed(scratch, point.mean, found.higher_is_better)
        against = f"with {rival}" if rival else "without"
        return f"With {curve.name}, {count} do what {_many(needed, scratch)} do {against} ({scores})."
    needed = labels_needed(curve, other.mean, found.higher_is_better)
    first, then = (f"With {rival}", curve.name) if rival else (f"Without {curve.name}", "it")
    return f"{first}, {count} do what {_many(needed, curve)} do with {then} ({scores})."


def _against_floor(found: LabelCurves, floor: Curve) -> str:
    """From which rate on a network is worth its while."""
    networks = [curve for curve in found.curves if curve is not floor]
    name = floor.name[0].upper() + floor.name[1:]
    sign = 1.0 if found.higher_is_better else -1.0
    ahead = []
    for rate in found.rates:
        mine = found.point(floor, rate)
        others = [point.mean for curve in networks if (point := found.point(curve, rate))]
        if mine is not None and others:
            ahead.append((mine, max(sign * mean for mean in others) > sign * mine.mean))
    won = [mine for mine, better in ahead if better]
    if not won:
        return f"{name} do at least as well as any network, however many labels there are."
    if all(better for _, better in ahead):
        return f"{name} do worse than the best network, however many labels there are."
    counts = [_count(point.labels) for point in won]
    listed = " and ".join(filter(None, [", ".join(counts[:-1]), counts[-1]]))
    return f"{name} do worse than the best network with {listed} labels, and at least as well with the others."


def _noise(one: Point, other: Point) -> float:
    """Twice the standard error of a difference of means; with a single seed nothing is known about it."""
    if one.std is None or other.std is None:
        return 0.0
    return 2 * math.sqrt(one.std**2 / len(one.values) + other.std**2 / len(other.values))


def _many(labels: float, curve: Curve) -> str:
    most = max(point.labels for point in curve.points)
    return f"not even {_count(most)}" if math.isinf(labels) else f"about {_count(labels)}"


def _count(labels: float) -> str:
    return f"{round(labels):,}"


def _score(found: LabelCurves, mean: float) -> str:
    return f"{mean:.{numbers.decimals(found.metric)}f}"


def label_table(found: LabelCurves) -> Table:
    """A row for each rate, a column for each curve."""
    columns = (Column("labels", "number"), Column("share", "number"), *(Column(c.name, "number") for c in found.curves))
    rows = []
    for rate in found.rates:
        points = [found.point(curve, rate) for curve in found.curves]
        known = [point for point in points if point is not None]
        best = found.best(rate)
        cells = [
            Cell(EMPTY)
            if point is None
            else Cell(numbers.mean_std(point.mean, point.std, found.metric), best=point.mean == best)
            for point in points
        ]
        rows.append(Row((Cell(_count(known[0].labels)), Cell(f"{100 * rate:g} %"), *cells)))
    metric = numbers.metric_label(found.metric, found.higher_is_better)
    legend = f"Mean ± sample standard deviation over {found.seeds} seeds." if found.seeds > 1 else "One seed each."
    return Table(columns, tuple(rows), f"{found.dataset}: {metric} by number of labels", notes=(legend, *found.notes))


def label_values(found: LabelCurves) -> list[dict[str, Any]]:
    """Every point with full numbers."""
    return [
        {
            "dataset": found.dataset,
            "curve": curve.name,
            "kind": curve.kind,
            "label_rate": point.rate,
            "labels": round(point.labels, 1),
            "metric": found.metric,
            "mean": round(point.mean, 6),
            "std": None if point.std is None else round(point.std, 6),
            "values": list(point.values),
        }
        for curve in found.curves
        for point in curve.points
    ]
