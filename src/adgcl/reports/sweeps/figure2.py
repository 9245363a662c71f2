"""Figure 2: an encoder that tells all graphs apart may still be useless, and how much random labels cost it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import log
from typing import Any

import numpy as np

from adgcl.reports.sweeps.drawing import colour, epochs_below, panels
from adgcl.reports.sweeps.findings import Finding, compared, decide, difference, in_words
from adgcl.reports.sweeps.points import Point, Row, arms_of, courses, datasets_of, higher_is_better, metric_of, points

_PLAIN, _RANDOM, _TRUE = "InfoMax", "InfoMax + random labels", "InfoMax + true labels"

CAPTIONS = {
    "figure2": "Logistic regression on the true labels, from encoders that all tell graphs apart (InfoMax): test score "
    "after each epoch, mean and standard deviation over seeds. Paper: fitting random labels at the same time keeps the "
    "map one to one but costs quality. Beyond the paper: true labels, and AD-GCL.",
}


def draw(tables: Mapping[str, Sequence[Row]]) -> Iterator[tuple[str, Any]]:
    """The figure, with a panel for each data set."""
    trials, course = tables["trials"], tables["courses"]

    def one(axis: Any, name: str) -> None:
        for number, arm in enumerate(arms_of(trials)):
            for point in points(course, name, arm):
                epochs, mean, spread = courses(point.rows, "test")
                axis.plot(epochs, mean, color=colour(number), label=arm, ls=("-", "--", "-.", ":")[number % 4])
                axis.fill_between(epochs, mean - spread, mean + spread, color=colour(number), alpha=0.15, lw=0)
        axis.set(ylabel=f"test {metric_of(trials, name)}")
        epochs_below(axis)
        axis.legend(loc="best")

    names = datasets_of(trials)
    if names:
        figure = panels(names, one, columns=2)
        if len(names) == 1:
            figure.set_size_inches(6.0, 3.8)
        yield "figure2", figure


def findings(tables: Mapping[str, Sequence[Row]]) -> Iterator[Finding]:
    """Whether the maps are one to one, and the gap that random labels leave at the end."""
    trials, apart = tables["trials"], tables.get("separation", ())
    for name in datasets_of(trials):
        higher = higher_is_better(trials, name)
        for arm in (_PLAIN, _RANDOM):
            rows = [row for row in apart if row["dataset"] == name and row["arm"] == arm]
            if rows:
                lost = max(row["coinciding"] - row["alike"] for row in rows)
                same, alike = max(row["coinciding"] for row in rows), max(row["alike"] for row in rows)
                numbers = f"{same} of {rows[0]['pairs']} pairs coincide, {alike} of them before training"
                yield Finding("2", name, f"{arm}: the map is one to one.", decide(lost <= 0, lost > 0), numbers)
        plain, random = points(trials, name, _PLAIN), points(trials, name, _RANDOM)
        gap, error = difference(plain, random, "test_at_end")
        claim = "Random labels degrade the encoder, although the map stays one to one."
        numbers = f"gap at the end {in_words(gap, error)}{_fitted(random)}"
        yield Finding("2", name, claim, compared(gap, error, higher), numbers)
        if true := points(trials, name, _TRUE):
            gap, error = difference(true, random, "test_at_end")
            claim = "True labels end above random ones."
            yield Finding("2", name, claim, compared(gap, error, higher), f"gap at the end {in_words(gap, error)}")
        for arm in arms_of(trials):
            if arm not in (_PLAIN, _RANDOM) and (found := points(trials, name, arm)):
                gap, error = difference(found, plain, "test_at_end")
                claim = f"{arm} ends above InfoMax (beyond the paper)."
                yield Finding("2", name, claim, compared(gap, error, higher), in_words(gap, error))


def _fitted(random: Sequence[Point]) -> str:
    """How far the random labels were learned: without that they cannot do harm."""
    losses = [row["label_loss_at_end"] for point in random for row in point.rows if "label_loss_at_end" in row]
    guess = log(2)
    return f"; loss on the random labels {np.mean(losses):.2f} (guessing: {guess:.2f})" if losses else ""
