"""The averages over data sets by which papers about transfer compare rows, as published and by one rule for all rows.

Papers read their rows at different epochs: some at the one that is best on validation data, some at the last. Records
keep the scores of every epoch, so the same runs can also be read by one rule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean

from adgcl.core.records import Record
from adgcl.reports import numbers
from adgcl.reports.comparison import Comparison
from adgcl.reports.numbers import printed_label
from adgcl.reports.ranking import rank

TAIL = 20

Reading = Callable[[Record], float | None]


def average_notes(comparison: Comparison) -> list[str]:
    """The mean of every ranked row, over the sets that all ranked rows have, as published and by one rule for all."""
    if comparison.table.protocol != "finetune":
        return []
    found = []
    for mode in comparison.modes:
        ranking = rank(comparison, mode)
        if len(ranking.datasets) < 2 or len({comparison.metric(d) for d in ranking.datasets}) > 1:
            continue
        rows = "; ".join(_average(comparison, mode, row, ranking.datasets) for row in ranking.rows)
        found.append(f"Average over {', '.join(ranking.datasets)} ({mode}): {rows}.")
        for where, reading in READINGS.items():
            means = {row: _read(comparison, mode, row, ranking.datasets, reading) for row in ranking.rows}
            if all(means.values()):
                shown = "; ".join(f"{printed_label(row)} {mean}" for row, mean in means.items())
                found.append(f"The same runs, every row {where} ({mode}): {shown}.")
    return found


def at_best(record: Record) -> float | None:
    """The mean test score over runs at the epoch that is best on validation data, the first of equals."""

    def best(valid: Sequence[float | None], test: Sequence[float | None]) -> float | None:
        known = [(v if record.higher_is_better else -v, -i) for i, v in enumerate(valid) if v is not None]
        return test[-max(known)[1]] if known else None

    return _over_runs(record, best)


def at_last(record: Record) -> float | None:
    """The mean test score over runs at the last epoch."""
    return _over_runs(record, lambda _, test: test[-1])


def over_tail(record: Record) -> float | None:
    """The mean test score over runs and their last epochs: which of them is read makes no difference to it."""
    return _over_runs(record, lambda _, test: _mean(test[-TAIL:]) if len(test) >= TAIL else None)


READINGS: dict[str, Reading] = {
    "at the epoch that is best on validation data": at_best,
    "at the last epoch": at_last,
    f"on average over the last {TAIL} epochs": over_tail,
}


def _over_runs(
    record: Record, read: Callable[[Sequence[float | None], Sequence[float | None]], float | None]
) -> float | None:
    """The mean of what `read` takes from each run's validation and test scores; None if a run has nothing to read."""
    scores: list[float | None] = []
    for run in record.runs:
        course = run.get("course", {})
        # The folds of a run share one course, in which their epochs cannot be told apart.
        if not course.get("test") or len(run["folds"]) != 1:
            return None
        scores.append(read(course["valid"], course["test"]))
    return _mean(scores)


def _mean(scores: Sequence[float | None]) -> float | None:
    known = [score for score in scores if score is not None]
    return fmean(known) if known and len(known) == len(scores) else None


def _read(comparison: Comparison, mode: str, row: str, datasets: Sequence[str], reading: Reading) -> str:
    records = [comparison.cell(mode, row, dataset).record for dataset in datasets]
    mean = _mean([reading(record) if record else None for record in records])
    return "" if mean is None else numbers.mean_std(mean, None, comparison.metric(datasets[0])[0])


def _average(comparison: Comparison, mode: str, row: str, datasets: Sequence[str]) -> str:
    metric, _ = comparison.metric(datasets[0])
    cells = [comparison.cell(mode, row, dataset) for dataset in datasets]
    ours = numbers.mean_std(fmean(cell.record.mean for cell in cells if cell.record), None, metric)
    theirs = [cell.published.mean for cell in cells if cell.published]
    paper = f" (paper {numbers.mean_std(fmean(theirs), None, metric)})" if len(theirs) == len(cells) else ""
    return f"{printed_label(row)} {ours}{paper}"
