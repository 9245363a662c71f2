"""Takeaway: what Records say, in one sentence for the top of a figure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from adgcl.core.records import Record
from adgcl.core.words import counted
from adgcl.reports import numbers
from adgcl.reports.numbers import REFERENCE, method_label

PUBLISHED_MODE = "as_published"


def takeaway(records: Sequence[Record]) -> str:
    """AD-GCL against the published figures, else against the other methods, else what the Records hold."""
    ours = [record for record in records if record.method == REFERENCE]
    comparable = [record for record in ours if record.published and record.mode == PUBLISHED_MODE]
    if comparable:
        return _against_paper(_of_one_kind(comparable))
    if ours and len({record.method for record in records}) > 1:
        return _against_others(_of_one_kind(ours), records)
    return _what_there_is(records)


def _of_one_kind(records: Sequence[Record]) -> list[Record]:
    """Those of one mode, probe and protocol: what most data sets have, the linear probe among equals."""
    counts = Counter(map(_settings, records))
    chosen = max(counts, key=lambda kind: (counts[kind], kind[1] == "linear", kind))
    return [record for record in records if _settings(record) == chosen]


def _settings(record: Record) -> tuple[str, str, str]:
    return record.mode, record.probe, record.protocol


def _against_paper(ours: Sequence[Record]) -> str:
    verdicts = [numbers.verdict(numbers.gain(record), (record.published or {}).get("std")) for record in ours]
    met = sum(verdict != "worse" for verdict in verdicts)
    return f"{method_label(REFERENCE)} meets the published figure on {met} of {_sets(len(ours))} {_kind(ours)}"


def _against_others(ours: Sequence[Record], records: Sequence[Record]) -> str:
    won = tried = 0
    for record in ours:
        cell = (record.dataset, record.metric, *_settings(record))
        others = [r.mean for r in records if (r.dataset, r.metric, *_settings(r)) == cell and r.method != REFERENCE]
        tried += bool(others)
        best = max if record.higher_is_better else min
        won += bool(others) and record.mean == best([record.mean, *others])
    if not tried:
        return _what_there_is(records)
    return f"{method_label(REFERENCE)} is best on {won} of {_sets(tried)} {_kind(ours)}"


def _what_there_is(records: Sequence[Record]) -> str:
    first = records[0]
    if len(records) == 1:
        metric = numbers.metric_label(first.metric, first.higher_is_better)
        return f"{method_label(first.method)} on {first.dataset}: {metric} {numbers.result(first)} {_kind(records)}"
    methods, datasets = {r.method for r in records}, {r.dataset for r in records}
    who = method_label(first.method) if len(methods) == 1 else f"{len(methods)} methods"
    return f"{who} on {first.dataset if len(datasets) == 1 else _sets(len(datasets))}"


def _sets(count: int) -> str:
    return counted(count, "data set")


def _kind(records: Sequence[Record]) -> str:
    return f"({records[0].mode}, {numbers.judged_by(records[0])})"
