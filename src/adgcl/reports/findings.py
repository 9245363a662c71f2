"""Findings: what the Records say about AD-GCL, in plain sentences per data set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from adgcl.core.records import Record
from adgcl.reports import numbers
from adgcl.reports.comparison import Comparison, Entry, label
from adgcl.reports.significance import compare

REFERENCE = "adgcl"
# Our best settings, and the published row they are to beat.
BEST, RIVAL = "adgcl-best", "adgcl-opt"
# What learns nothing, and so must be beaten before anything is claimed.
FLOORS = {"random_init": "an untrained encoder", "statistics": "plain statistics", "ecfp": "a fingerprint"}
# Within this many published standard deviations, ours and the paper's are called equal.
EQUAL = 1.0


@dataclass(frozen=True)
class Finding:
    """AD-GCL on one data set: against the paper (`better`, `equal`, `worse`, or nothing), and against the floors."""

    dataset: str
    entry: Entry
    verdict: str
    floors: dict[str, Record]

    @property
    def winners(self) -> list[str]:
        """The floors with a better mean."""
        ours = self.entry.record
        assert ours is not None
        return [name for name, record in self.floors.items() if compare(record, ours).difference > 0]

    def sentence(self) -> str:
        ours = self.entry.record
        assert ours is not None
        text = f"**{self.dataset}**: {label(REFERENCE)} {numbers.result(ours)} ({_seeds(ours)})"
        if self.entry.published is not None:
            paper = numbers.mean_std(self.entry.published.mean, self.entry.published.std, ours.metric)
            by = f" ({numbers.in_stds(self.entry.gain_in_stds)})" if self.entry.gain_in_stds is not None else ""
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
        entry = comparison.entry(mode, REFERENCE, dataset)
        if entry.record is None:
            continue
        floors = {name: r for name in FLOORS if (r := comparison.record(mode, name, dataset)) is not None}
        found.append(Finding(dataset, entry, verdict(entry), floors))
    return found


def verdict(entry: Entry) -> str:
    """Ours against the paper's: equal within one published standard deviation."""
    if entry.gain is None:
        return ""
    gain = entry.gain_in_stds
    if gain is None:
        return "better" if entry.gain > 0 else "worse" if entry.gain < 0 else "equal"
    return "better" if gain > EQUAL else "worse" if gain < -EQUAL else "equal"


def overview(found: Sequence[Finding]) -> str:
    """All data sets in two sentences."""
    judged = [f for f in found if f.verdict]
    parts = []
    for name in _VERDICTS:
        where = [f.dataset for f in judged if f.verdict == name]
        if where:
            parts.append(f"{name} on {len(where)} ({', '.join(where)})")
    text = (
        f"Of {len(judged)} data sets, {label(REFERENCE)} is, beside the published figure, {'; '.join(parts)}. "
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
        (dataset, Entry(record, published))
        for dataset in comparison.datasets
        if (record := comparison.record(mode, BEST, dataset)) and (published := comparison.table.result(dataset, RIVAL))
    ]
    if not pairs:
        return ""
    ahead = [dataset for dataset, entry in pairs if entry.gain is not None and entry.gain > 0]
    where = f" ({', '.join(ahead)})" if ahead else ""
    return f"{label(BEST)} is above the published {label(RIVAL)} on {len(ahead)} of {len(pairs)} data sets{where}."


def _seeds(record: Record) -> str:
    return f"{len(record.seeds)} seed{'s' if len(record.seeds) != 1 else ''}"
