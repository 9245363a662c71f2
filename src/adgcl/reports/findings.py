"""Findings: what the Records say about AD-GCL, in plain sentences per data set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from adgcl.core.records import Record
from adgcl.reports import numbers
from adgcl.reports.comparison import ComparedCell, Comparison
from adgcl.reports.numbers import REFERENCE, printed_label
from adgcl.reports.significance import compare

# Our best settings, and the published row they should beat.
BEST, RIVAL = "adgcl-best", "adgcl-opt"
# What works without AD-GCL or any other pre-training, to be beaten before anything is claimed.
FLOORS = {
    "random_init": "an untrained encoder",
    "no_pretrain": "no pre-training",
    "statistics": "plain statistics",
    "ecfp": "a fingerprint",
}


@dataclass(frozen=True)
class Finding:
    """AD-GCL on one data set: against the paper (`better`, `equal`, `worse`, or nothing), and against the floors."""

    dataset: str
    cell: ComparedCell
    floors: dict[str, Record]

    @property
    def verdict(self) -> str:
        return self.cell.verdict

    @property
    def winners(self) -> list[str]:
        """The floors with a better mean."""
        ours = self.cell.record
        assert ours is not None
        return [name for name, record in self.floors.items() if compare(record, ours).difference > 0]

    def sentence(self) -> str:
        ours = self.cell.record
        assert ours is not None
        text = f"**{self.dataset}**: {printed_label(REFERENCE)} {numbers.result(ours)} ({numbers.seeds_label(ours)})"
        if self.cell.published is not None:
            paper = numbers.mean_std(self.cell.published.mean, self.cell.published.std, ours.metric)
            by = f" ({numbers.in_stds(self.cell.gain_in_stds)})" if self.cell.gain_in_stds is not None else ""
            text += f", {_VERDICTS[self.verdict]} the published {paper}{by}"
        return f"{text}. {self._floor_sentence(ours)}".strip()

    def _floor_sentence(self, ours: Record) -> str:
        parts = []
        for name, record in self.floors.items():
            test = compare(record, ours)
            clear = test.p is not None and test.p < 0.05
            word = "wins" if test.difference > 0 else "loses" if test.difference < 0 else "draws"
            parts.append(f"{FLOORS[name]} {word} with {numbers.result(record)}{'' if clear else ' (not significant)'}")
        text = ", ".join(parts)
        return text[:1].upper() + text[1:] + "." if text else ""


_VERDICTS = {"better": "better than", "equal": "equal to", "worse": "worse than"}


def findings(comparison: Comparison, mode: str) -> list[Finding]:
    """One per data set that AD-GCL was run on."""
    found = []
    for dataset in comparison.datasets:
        cell = comparison.cell(mode, REFERENCE, dataset)
        if cell.record is None:
            continue
        floors = {name: r for name in FLOORS if (r := comparison.record(mode, name, dataset)) is not None}
        found.append(Finding(dataset, cell, floors))
    return found


def overview(found: Sequence[Finding]) -> str:
    """All data sets in two sentences."""
    judged = [f for f in found if f.verdict]
    parts = []
    for name in _VERDICTS:
        where = [f.dataset for f in judged if f.verdict == name]
        if where:
            parts.append(f"{name} on {len(where)} ({', '.join(where)})")
    text = (
        f"Of {len(judged)} data sets, compared with the paper, {printed_label(REFERENCE)} is {'; '.join(parts)}. "
        if parts
        else ""
    )
    wins = []
    for name, words in FLOORS.items():
        where = [f.dataset for f in found if name in f.winners]
        tried = [f.dataset for f in found if name in f.floors]
        if tried:
            wins.append(
                f"{words} beats it on {len(where)} of {len(tried)}" + (f" ({', '.join(where)})" if where else "")
            )
    text += "By mean, " + "; ".join(wins) + "." if wins else ""
    return text.strip()


def best_against_paper(comparison: Comparison, mode: str) -> str:
    """Our best settings against what the paper's best reached, in one sentence."""
    pairs = [
        (dataset, ComparedCell(record, published))
        for dataset in comparison.datasets
        if (record := comparison.record(mode, BEST, dataset)) and (published := comparison.table.result(dataset, RIVAL))
    ]
    if not pairs:
        return ""
    ahead = [dataset for dataset, cell in pairs if cell.gain is not None and cell.gain > 0]
    where = f" ({', '.join(ahead)})" if ahead else ""
    above = f"{printed_label(BEST)} is above the published {printed_label(RIVAL)}"
    return f"{above} on {len(ahead)} of {len(pairs)} data sets{where}."
