"""The page of costs: tables of what was measured, and what the slopes mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from benchmarks.slopes import last_doubling, slope

if TYPE_CHECKING:
    from benchmarks.costs import Axis

_HEAD = """# What it costs

How time and memory grow, measured at four sizes each ({machine}). Times are processor time of one core, but
for the seeds, which run two at a time: theirs is wall time. Made by `python -m benchmarks.costs --write`; do not edit
by hand.

*Slope* is the exponent k of the best fit cost = c · size^k: 1 means twice as much for twice the size, 0 means that
the size does not matter. Below 1 there is a fixed cost that larger sizes share. Memory is what comes on top of the
{program:.0f} MB that Python and its libraries take without any data.

## In short

{summary}
"""
_UNITS = {
    "step": "a training step",
    "epoch": "a training epoch",
    "evaluation": "an evaluation",
    "run": "a run of all seeds",
}


def render(axes: Mapping[str, Axis], tree: Mapping[str, Any]) -> str:
    """The whole page."""
    summary = "\n".join(_sentence(axis, tree["axes"][name]) for name, axis in axes.items())
    program = max((row["program"] for rows in tree["axes"].values() for row in rows), default=0)
    parts = [_HEAD.format(machine=tree["machine"], summary=summary, program=program)]
    parts += [_section(axis, tree["axes"][name]) for name, axis in axes.items()]
    return "\n".join(parts)


def _sentence(axis: Axis, rows: list[dict[str, Any]]) -> str:
    """What doubling the size costs at the large end, where fixed costs no longer hide it."""
    time, memory = (f"{last_doubling(rows, what):.1f} times" for what in ("seconds", "megabytes"))
    return f"- Twice the {axis.title}: {_UNITS[axis.per]} takes {time} as long and {memory} the memory."


def _section(axis: Axis, rows: list[dict[str, Any]]) -> str:
    lines = [
        f"## {_UNITS[axis.per].removeprefix('a ').removeprefix('an ').capitalize()}: {axis.title}",
        "",
        f"{_fixed(axis)}",
        "",
        f"| {axis.title} | time of one {axis.per} | memory |",
        "| ---: | ---: | ---: |",
    ]
    lines += [f"| {row['size']} | {_time(row['seconds'])} | {row['megabytes']:.0f} MB |" for row in rows]
    lines += [f"| **slope** | **{slope(rows, 'seconds'):.2f}** | **{slope(rows, 'megabytes'):.2f}** |", ""]
    return "\n".join(lines)


def _fixed(axis: Axis) -> str:
    """What stays the same along the axis."""
    point = axis.base
    told = {
        "training": {"batch": "graphs a batch", "nodes": "nodes", "edges": "undirected edges", "width": "columns wide"},
        "evaluation": {"graphs": "graphs", "width": "columns"},
        "protocol": {"graphs": "graphs", "nodes": "nodes", "edges": "undirected edges", "width": "columns wide"},
    }[point.work]
    kind = {
        "training": "AD-GCL, alternating update, float32",
        "evaluation": "The published probe: 350 linear SVMs of two classes",
        "protocol": "AD-GCL, 20 epochs, 4 evaluations, start of the processes included; memory of both together",
    }[point.work]
    sizes = [f"{getattr(point, field)} {name}" for field, name in told.items() if field != axis.field]
    return f"{kind}; {', '.join(sizes)}."


def _time(seconds: float) -> str:
    return f"{seconds * 1000:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"
