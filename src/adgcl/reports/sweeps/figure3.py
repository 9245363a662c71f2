"""Figure 3 and Appendix F: what the regulariser does to the drop ratio, and the drop ratio to quality."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from adgcl.reports.svg import INK
from adgcl.reports.sweeps.drawing import MARKERS, colour, epochs_below, label_points, legend_below, panels, shades
from adgcl.reports.sweeps.findings import (
    Finding,
    compared,
    decide,
    difference,
    falls,
    in_words,
    rank_correlation,
    rises,
)
from adgcl.reports.sweeps.points import Point, Row, courses, datasets_of, higher_is_better, metric_of, points

_OURS, _THEIRS = "AD-GCL", "NAD-GCL"
_LAMBDA, _RATIO, _END = "method.reg_lambda", "method.drop_ratio", "drop_ratio_at_end"
_TIMES = 1.5  # how many times a spread must be another to be called larger
_HELD = 0.05  # share of a score that may be lost while quality is called kept
_SEEN = 0.03  # how high a bar must be for its colour to be seen
_UNIFORM, _UNEVEN = 0.01, 0.1  # how decided probabilities are, at most and at least

CAPTIONS = {
    "figure3a": "The share of edges that AD-GCL expects to drop at the end of training, against lambda. "
    "Paper: a large lambda yields a small ratio; 0.1 to 10 spans almost everything (80 %) to nothing (< 10 %).",
    "figure3b": "The drop ratio during training, for each lambda. Paper: lambda decides where it settles.",
    "figure3c": "Validation score against the drop ratio: AD-GCL (markers name lambda) beside NAD-GCL, which drops "
    "uniformly. Paper: on classification AD-GCL is robust and better; on regression more dropping helps both.",
    "figure3d": "Drop probabilities of single edges at the end of the first seed, by bond type or by the smaller "
    "degree of the two ends: median, middle half (bar) and 5 to 95 % (line). Paper: they are not uniform, which it "
    "assumes but does not show.",
}


def draw(tables: Mapping[str, Sequence[Row]]) -> Iterator[tuple[str, Any]]:
    """Each figure by name."""
    trials, course = tables["trials"], tables["courses"]
    names = datasets_of(trials)
    ours = [name for name in names if points(trials, name, _OURS, _LAMBDA)]
    if ours:
        yield "figure3a", _ratios(trials, ours)
        yield "figure3b", _dynamics(trials, course, ours)
    if names:
        yield "figure3c", _quality(trials, names)
    measured = tables.get("drop_probabilities", ())
    shown = [name for name in ours if any(row["dataset"] == name for row in measured)]
    if shown:
        yield "figure3d", _spread(measured, shown)


def _ratios(trials: Sequence[Row], names: Sequence[str]) -> Any:
    def one(axis: Any, _: str) -> None:
        for number, name in enumerate(names):
            found = points(trials, name, _OURS, _LAMBDA)
            means = [point.mean(_END) for point in found]
            error = [point.spread(_END) for point in found]
            style = {"color": colour(number), "marker": MARKERS[number % len(MARKERS)], "capsize": 2}
            axis.errorbar([p.value for p in found], means, error, label=name, ls=("-", "--")[number // 6 % 2], **style)
        axis.set(xscale="log", xlabel="λ", ylabel="expected drop ratio at the end", ylim=(-0.03, 1.03))
        ticks = sorted({point.value for name in names for point in points(trials, name, _OURS, _LAMBDA)})
        axis.set_xticks(ticks, [f"{tick:g}" for tick in ticks], minor=False)
        axis.minorticks_off()
        axis.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))

    figure = panels(["Drop ratio against λ"], one)
    figure.set_size_inches(6.2, 3.4)
    return figure


def _dynamics(trials: Sequence[Row], course: Sequence[Row], names: Sequence[str]) -> Any:
    values = sorted({point.value for name in names for point in points(trials, name, _OURS, _LAMBDA)})
    hues = dict(zip(values, shades(len(values))))

    def one(axis: Any, name: str) -> None:
        for point in points(course, name, _OURS, _LAMBDA):
            epochs, mean, spread = courses(point.rows, "drop_ratio")
            axis.plot(epochs, mean, color=hues[point.value], label=f"λ = {point.value:g}")
            axis.fill_between(epochs, mean - spread, mean + spread, color=hues[point.value], alpha=0.15, lw=0)
        axis.set(ylabel="drop ratio", ylim=(-0.03, 1.03))
        epochs_below(axis)

    figure = panels(names, one)
    legend_below(figure)
    return figure


def _quality(trials: Sequence[Row], names: Sequence[str]) -> Any:
    def one(axis: Any, name: str) -> None:
        theirs = points(trials, name, _THEIRS, _RATIO)
        axis.errorbar(
            [p.mean(_END) for p in theirs], [p.mean("valid") for p in theirs], [p.spread("valid") for p in theirs],
            color=colour(1), marker="s", ls="--", capsize=2, elinewidth=0.7, label="NAD-GCL (uniform dropping)",
        )  # fmt: skip
        ours = points(trials, name, _OURS, _LAMBDA)
        axis.errorbar(
            [p.mean(_END) for p in ours], [p.mean("valid") for p in ours], [p.spread("valid") for p in ours],
            color=colour(0), marker="o", ls="", capsize=2, elinewidth=0.7, label="AD-GCL (markers: λ)",
        )  # fmt: skip
        better = "" if higher_is_better(trials, name) else ", lower is better"
        axis.set(xlabel="drop ratio", ylabel=f"validation {metric_of(trials, name)}{better}", xlim=(-0.05, 1.05))
        at = [[(p.mean(_END), p.mean("valid")) for p in found] for found in (ours, theirs)]
        label_points(axis, at[0], [f"{p.value:g}" for p in ours], colour(0), at[1])

    figure = panels(names, one)
    legend_below(figure)
    return figure


def _spread(measured: Sequence[Row], names: Sequence[str]) -> Any:
    values = sorted({row[_LAMBDA] for row in measured if _LAMBDA in row})
    hues = dict(zip(values, shades(len(values))))

    def one(axis: Any, name: str) -> None:
        rows = [row for row in measured if row["dataset"] == name and row["kind"] != "all" and row["seed"] == 0]
        groups = list(dict.fromkeys(row["group"] for row in rows))
        wide = 0.8 / max(len(values), 1)
        for row in rows:
            x = groups.index(row["group"]) + (values.index(row[_LAMBDA]) - (len(values) - 1) / 2) * wide
            hue = hues[row[_LAMBDA]]
            label = f"λ = {row[_LAMBDA]:g}" if row["group"] == groups[0] else None
            axis.vlines(x, row["q05"], row["q95"], color=hue, lw=0.9)
            middle = max(row["q75"] - row["q25"], _SEEN)
            axis.bar(x, middle, 0.75 * wide, (row["q25"] + row["q75"] - middle) / 2, color=hue, label=label)
            axis.hlines(row["q50"], x - 0.45 * wide, x + 0.45 * wide, color=INK, lw=1.4)
        axis.set_xticks(range(len(groups)), groups)
        kind = rows[0]["kind"] if rows else ""
        label = "bond" if kind == "bond" else "smaller degree of the two ends"
        axis.set(xlabel=label, ylabel="drop probability", ylim=(-0.03, 1.03))
        axis.grid(False, axis="x")

    figure = panels(names, one)
    legend_below(figure)
    return figure


def findings(tables: Mapping[str, Sequence[Row]]) -> Iterator[Finding]:
    """Each claim of Section 5.2 and Appendix F about each data set that has the trials for it."""
    trials = tables["trials"]
    for name in datasets_of(trials):
        ours, theirs = points(trials, name, _OURS, _LAMBDA), points(trials, name, _THEIRS, _RATIO)
        higher = higher_is_better(trials, name)
        if len(ours) > 2:
            yield _falls(name, ours)
            yield _spans(name, ours)
            yield from _settles(name, points(tables.get("courses", ()), name, _OURS, _LAMBDA))
        if len(ours) > 2 and len(theirs) > 2:
            yield from _of_classification(name, ours, theirs) if higher else _of_regression(name, ours, theirs)
        measured = [row for row in tables.get("drop_probabilities", ()) if row["dataset"] == name]
        if measured:
            yield _uneven(name, measured)


def _falls(name: str, ours: list[Point]) -> Finding:
    means = [point.mean(_END) for point in ours]
    prices = [point.value for point in ours]
    rank = rank_correlation(prices, means)
    shown = ", ".join(f"{point.value:g}: {mean:.2f}" for point, mean in zip(ours, means))
    claim = "The drop ratio falls with λ."
    return Finding("3a", name, claim, falls(prices, means), f"{shown} (rank correlation {rank:.2f})")


def _spans(name: str, ours: list[Point]) -> Finding:
    first, last = ours[0], ours[-1]
    low, high = first.mean(_END), last.mean(_END)
    known = first.value <= 0.1 and last.value >= 10
    yes, claim = low >= 0.8 and high < 0.1, "λ from 0.1 to 10 spans dropping 80 % to less than 10 %."
    numbers = f"{low:.2f} at λ = {first.value:g}, {high:.2f} at {last.value:g}"
    return Finding("3a", name, claim, decide(known and yes, known and not yes), numbers)


def _settles(name: str, ours: list[Point]) -> Iterator[Finding]:
    """Whether the ratios of the last quarter differ more between λ than from epoch to epoch."""
    late = []
    for point in ours:
        _, mean, _ = courses(point.rows, "drop_ratio")
        late.append(mean[-max(len(mean) // 4, 1) :])
    if len(late) > 2 and min(map(len, late)) > 2:
        between, within = float(np.std([part.mean() for part in late], ddof=1)), float(np.mean([p.std() for p in late]))
        verdict = decide(between > _TIMES * within, _TIMES * between < within)
        numbers = f"standard deviation {between:.3f} between λ, {within:.3f} within the last quarter of a course"
        yield Finding("3b", name, "λ decides where the drop ratio settles.", verdict, numbers)


def _of_classification(name: str, ours: list[Point], theirs: list[Point]) -> Iterator[Finding]:
    spreads = [float(np.std([point.mean("valid") for point in found], ddof=1)) for found in (ours, theirs)]
    claim = "AD-GCL is robust to λ, NAD-GCL is sensitive to its drop ratio."
    verdict = decide(_TIMES * spreads[0] < spreads[1], spreads[0] > _TIMES * spreads[1])
    numbers = f"standard deviation over settings {spreads[0]:.2f} against {spreads[1]:.2f} points"
    yield Finding("3c", name, claim, verdict, numbers)
    dear, light = [p for p in ours if p.value >= 5], [p for p in theirs if p.value <= 0.1]
    gap, error = difference(dear, light, "valid")
    if dear:
        ratio, claim = float(np.mean([point.mean(_END) for point in dear])), "At λ ≥ 5 less than 10 % is dropped."
        yield Finding("3c", name, claim, decide(ratio < 0.1, ratio >= 0.1), f"drop ratio {ratio:.2f}")
        claim = "At λ ≥ 5 AD-GCL beats NAD-GCL that drops 0 to 10 %."
        yield Finding("3c", name, claim, compared(gap, error, True), f"validation {in_words(gap, error)}")
    cheap = next((point for point in ours if point.value == 0.3), None)
    if cheap is not None:
        ratio, claim = cheap.mean(_END), "At λ = 0.3 more than 60 % is dropped."
        yield Finding("3c", name, claim, decide(ratio > 0.6, ratio <= 0.6), f"drop ratio {ratio:.2f}")
        best = max(point.mean("valid") for point in ours)
        lost, claim = (best - cheap.mean("valid")) / best, "At λ = 0.3 quality is kept."
        verdict = decide(lost < _HELD, lost >= 2 * _HELD)
        yield Finding("3c", name, claim, verdict, f"{100 * lost:.1f} % below the best λ")


def _of_regression(name: str, ours: list[Point], theirs: list[Point]) -> Iterator[Finding]:
    prices, errors = [point.value for point in ours], [point.mean("valid") for point in ours]
    claim = "On regression a smaller λ, so more dropping, is better."
    numbers = f"rank correlation with error {rank_correlation(prices, errors):.2f}"
    yield Finding("3c", name, claim, rises(prices, errors), numbers)
    ratios, errors = [point.value for point in theirs], [point.mean("valid") for point in theirs]
    claim = "On regression more dropping is better for NAD-GCL too."
    numbers = f"rank correlation with error {rank_correlation(ratios, errors):.2f}"
    yield Finding("3c", name, claim, falls(ratios, errors), numbers)
    x, y = [p.mean(_END) for p in theirs], [p.mean("valid") for p in theirs]
    order = np.argsort(x)
    rival = np.interp([p.mean(_END) for p in ours], np.array(x)[order], np.array(y)[order])
    wins = int((np.array([p.mean("valid") for p in ours]) < rival).sum())
    claim = "AD-GCL is uniformly better than NAD-GCL at the same drop ratio."
    seeds = min(len(point.rows) for point in (*ours, *theirs))
    verdict = decide(wins == len(ours), 2 * wins < len(ours)) if seeds > 1 else "undecided"
    yield Finding(
        "3c", name, claim, verdict, f"better at {wins} of {len(ours)} λ" + ("" if seeds > 1 else ", one seed")
    )


def _uneven(name: str, measured: Sequence[Row]) -> Finding:
    alive = [row for row in measured if row["kind"] == "all" and 0.05 < row["mean"] < 0.95]
    shares = [float(row["decided"]) for row in alive]
    claim = "Drop probabilities are not uniform within a graph."
    if not shares:
        return Finding("3d", name, claim, "undecided", "no λ leaves the drop ratio between 5 and 95 %")
    middle = float(np.median(shares))
    numbers = f"median over {len(shares)} trials {middle:.3f} (0: uniform, 1: every edge surely kept or dropped)"
    return Finding("3d", name, claim, decide(middle > _UNEVEN, middle < _UNIFORM), numbers)
