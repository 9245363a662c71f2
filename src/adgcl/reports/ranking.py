"""Ranking: the average place of every method over the data sets that all of them have."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from adgcl.reports.comparison import Comparison


@dataclass(frozen=True)
class Ranking:
    """Average ranks (1 is best, ties share) of `rows` over `datasets`."""

    rows: tuple[str, ...]
    datasets: tuple[str, ...]
    average: dict[str, float]


def rank(comparison: Comparison, mode: str) -> Ranking:
    """Rank the rows over the data sets where all have a value.

    Rows without any value are not ranked. If no data set has all the others, the row with the fewest values is left
    out, and so on until there is one.
    """
    from scipy.stats import rankdata

    have = {
        row: {d for d in comparison.datasets if comparison.record(mode, row, d) is not None} for row in comparison.rows
    }
    rows = [row for row in comparison.rows if have[row]]
    while rows and not set.intersection(*(have[row] for row in rows)):
        rows.remove(min(reversed(rows), key=lambda row: len(have[row])))
    datasets = tuple(d for d in comparison.datasets if rows and all(d in have[row] for row in rows))
    if len(rows) < 2:
        return Ranking((), (), {})
    places = []
    for dataset in datasets:
        sign = -1.0 if comparison.metric(dataset)[1] else 1.0
        means = [sign * comparison.cell(mode, row, dataset).record.mean for row in rows]  # type: ignore[union-attr]
        places.append(rankdata(means))
    return Ranking(tuple(rows), datasets, dict(zip(rows, map(float, np.mean(places, axis=0)))))
