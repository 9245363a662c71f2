"""The averages over data sets by which papers about transfer compare rows, at the epochs of their tables and at others.

Papers read their rows at different epochs: some at the one that is best on validation data, some at the last. Records
keep the scores of every epoch, so the same runs can also be compared by one rule for all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean

from adgcl.core.records import Record
from adgcl.reports import numbers
from adgcl.reports.comparison import Comparison
from adgcl.reports.numbers import printed_label
from adgcl.reports.ranking import rank

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
        for where, reading in (("best on validation data", at_best), ("last", at_last)):
            means = {row: _read(comparison, mode, row, ranking.datasets, reading) for row in ranking.rows}
            shown = "; ".join(f"{printed_label(row)} {mean}" for row, mean in means.items() if mean)
            if all(means.values()):
                found.append(f"The same runs, every row at the epoch that is {where} ({mode}): {shown}.")
    return found


def at_best(record: Record) -> float | None:
    """The mean test score over runs at the epoch that is best on validation data, the first of equals."""
    higher = record.higher_is_better

    def best(valid: Sequence[float | None]) -> int:
        known = [(v if higher else -v, -i) for i, v in enumerate(valid) if v is not None]
        return -max(known)[1] if known else -1

    return _at(record, best)


def at_last(record: Record) -> float | None:
    """The mean test score over runs at the last epoch."""
    return _at(record, lambda valid: len(valid) - 1)


def _at(record: Record, choose: Callable[[Sequence[float | None]], int]) -> float | None:
    """The mean over runs of the test score that `choose` picks by the validation scores; None if a run has none."""
    scores = []
    for run in record.runs:
        course = run.get("course", {})
        # The folds of a run share one course, in which their epochs cannot be told apart.
        if not course.get("test") or len(run["folds"]) != 1:
            return None
        scores.append(course["test"][choose(course["valid"])])
    return None if None in scores or not scores else fmean(scores)


def _read(comparison: Comparison, mode: str, row: str, datasets: Sequence[str], reading: Reading) -> str:
    records = [comparison.cell(mode, row, dataset).record for dataset in datasets]
    means = [mean for record in records if record and (mean := reading(record)) is not None]
    if len(means) < len(datasets):
        return ""
    return numbers.mean_std(fmean(means), None, comparison.metric(datasets[0])[0])


def _average(comparison: Comparison, mode: str, row: str, datasets: Sequence[str]) -> str:
    metric, _ = comparison.metric(datasets[0])
    cells = [comparison.cell(mode, row, dataset) for dataset in datasets]
    ours = numbers.mean_std(fmean(cell.record.mean for cell in cells if cell.record), None, metric)
    theirs = [cell.published.mean for cell in cells if cell.published]
    paper = f" (paper {numbers.mean_std(fmean(theirs), None, metric)})" if len(theirs) == len(cells) else ""
    return f"{printed_label(row)} {ours}{paper}"
