"""The trials of a search as tables: the best beside the starting settings, and how many ended how."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from adgcl.core.ranges import shown
from adgcl.experiments.tuning.choice import Outcome, Row
from adgcl.reports.numbers import decimals, metric_label
from adgcl.reports.table import EMPTY, Cell, Column, Table
from adgcl.reports.table import Row as Line

_ENDS = ("finished", "pruned", "failed", "running")


def ranked(found: Outcome) -> list[Row]:
    """The finished trials, best first; of equals the earlier one."""
    finished = [trial for trial in found.trials if trial["status"] == "finished"]
    sign = -1 if found.higher_is_better else 1
    return sorted(finished, key=lambda trial: (sign * trial["valid"], trial["trial"]))


def best_table(found: Outcome, count: int = 3) -> Table:
    """Settings down, trials across: the one with the starting settings, and the best ones."""
    best = ranked(found)[:count]
    start = [trial for trial in ranked(found) if all(trial[name] == found.start[name] for name in found.space)]
    across = [*(trial for trial in start if trial not in best), *best]
    heads = [f"start (#{t['trial']})" if t in start else f"#{t['trial']}" for t in across]
    columns = [Column("setting", "name"), Column("searched"), *(Column(head, "number") for head in heads)]
    scores = [Cell(f"{t['valid']:.{decimals(found.metric)}f}", best=t is best[0]) for t in across]
    lines = [Line((Cell(f"validation {metric_label(found.metric, found.higher_is_better)}"), Cell(), *scores))]
    for number, (name, range_) in enumerate(found.space.items()):
        cells = (Cell(shown(trial[name]) if name in trial else EMPTY) for trial in across)
        lines.append(Line((Cell(short(name, found.space)), Cell(range_), *cells), starts_group=number == 0))
    return Table(tuple(columns), tuple(lines))


def counted(trials: Sequence[Row]) -> str:
    """`20 trials: 14 finished, 5 pruned, 1 failed`."""
    ends = {end: sum(trial["status"] == end for trial in trials) for end in _ENDS}
    parts = ", ".join(f"{count} {end}" for end, count in ends.items() if count)
    return f"{len(trials)} trial{'s' if len(trials) != 1 else ''}: {parts}"


def failures(trials: Sequence[Row]) -> list[str]:
    """Why trials failed, those for the same reason in one line."""
    found: dict[str, list[str]] = {}
    for trial in trials:
        if trial["status"] == "failed":
            found.setdefault(str(trial["reason"]), []).append(str(trial["trial"]))
    return [f"Trial{'s' if len(who) > 1 else ''} {', '.join(who)} failed: {why}" for why, who in found.items()]


def short(name: str, space: Mapping[str, str]) -> str:
    """A setting without its section, unless that would be ambiguous."""
    short = name.partition(".")[2]
    return short if sum(other.partition(".")[2] == short for other in space) == 1 else name
