"""Pivots: methods down, data sets across, as papers print their tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from adgcl.core.records import Record
from adgcl.reports import numbers
from adgcl.reports.tables import latex, markdown

_PUBLISHED = "(published)"


@dataclass(frozen=True)
class Pivot:
    """One table: a title, its columns, and rows that start with a method's name."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def to_markdown(self) -> str:
        return f"**{self.title}**\n\n" + markdown(self.columns, self.rows, self.columns[1:])

    def to_latex(self) -> str:
        return latex(self.columns, self.rows, self.title)


def pivots(records: Sequence[Record]) -> list[Pivot]:
    """One table for each metric, probe, protocol and mode that occurs."""
    groups: dict[tuple[str, str, str, str], list[Record]] = {}
    for record in sorted(records, key=lambda r: r.created):
        groups.setdefault((record.metric, record.protocol, record.probe, record.mode), []).append(record)
    return [_pivot(group) for _, group in sorted(groups.items())]


def _pivot(group: Sequence[Record]) -> Pivot:
    """The newest Record of each method and data set, and the paper's figure below it."""
    newest = {(r.method, r.dataset): r for r in group}
    datasets = sorted({r.dataset for r in group})
    rows = []
    for method in sorted({r.method for r in group}, key=numbers.method_label):
        mine = {d: newest[method, d] for d in datasets if (method, d) in newest}
        label = numbers.method_label(method)
        rows.append((label, *(numbers.result(mine[d]) if d in mine else "–" for d in datasets)))
        theirs = next((r.published["method"] for r in mine.values() if r.published), None)
        if theirs is not None:
            rows.append(
                (f"{theirs} {_PUBLISHED}", *(numbers.published(mine[d]) if d in mine else "–" for d in datasets))
            )
    first = group[0]
    title = f"{numbers.metric_label(first.metric, first.higher_is_better)}, {first.probe} probe, mode {first.mode}"
    if first.protocol != "unsupervised":
        title += f", protocol {first.protocol}"
    return Pivot(title, ("method", *datasets), tuple(rows))
