"""The latest measurements, in `measured.json`, and their table in docs/speed.md."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from adgcl.core.files import write_json, write_text
from adgcl.core.provenance import machine
from adgcl.reports.formats.marks import put_between
from benchmarks.timing import Measurement

# The first word of a row's name says which part it belongs to; rows are in this order.
PARTS = (
    "training", "start", "evaluation", "protocol", "transfer", "labels", "embedding", "parsing", "smiles", "store",
    "parallel",
)  # fmt: skip
HERE = Path(__file__).parent
MEASURED, PAGE = HERE / "measured.json", HERE.parent / "docs" / "speed.md"


def read_measured(path: Path = MEASURED) -> list[Measurement]:
    """The latest measurements."""
    return [Measurement(**row) for row in json.loads(path.read_text(encoding="utf-8"))]


def keep(results: Iterable[Measurement], path: Path = MEASURED, page: Path = PAGE) -> None:
    """Replace earlier measurements of the same name with new ones."""
    rows = merged(read_measured(path) if path.exists() else [], [stamped(result) for result in results])
    text = put_between_marks(page.read_text(encoding="utf-8"), rows)
    write_json(path, [row.to_json() for row in rows])
    write_text(page, text)


def stamped(result: Measurement) -> Measurement:
    """The result with this machine and, unless it says when it was measured, today's date."""
    here = machine()
    day = datetime.datetime.now(datetime.UTC).date().isoformat()
    return replace(result, measured=result.measured or day, machine=f"{here['processor']}, {here['cores']} cores")


def merged(old: Sequence[Measurement], new: Sequence[Measurement]) -> list[Measurement]:
    """Every row once, ordered by part; of two with the same name, the newer."""
    rows = {row.name: row for row in (*old, *new)}
    return sorted(rows.values(), key=lambda row: PARTS.index(row.name.split()[0].lower().rstrip(",")))


def put_between_marks(text: str, rows: Sequence[Measurement]) -> str:
    """The page with its table of speeds regenerated."""
    return put_between(text, "speed", f"{table(rows)}\n\n{_machines(rows)}")


def table(results: Sequence[Measurement]) -> str:
    """The measurements as a Markdown table."""
    lines = ["| what | times faster | target | ours | plain | unit |", "| --- | ---: | ---: | ---: | ---: | --- |"]
    for r in results:
        target = "" if r.target is None else f"{r.target:g}"
        plain = "" if r.plain is None else f"{r.plain:.4g}"
        ratio = "" if r.plain is None and r.target is None else f"{r.ratio:.2f}"
        lines.append(f"| {r.name} | {ratio} | {target} | {r.ours:.4g} | {plain} | {r.unit} |")
    return "\n".join(lines)


def _machines(rows: Sequence[Measurement]) -> str:
    """One line for each machine and its dates."""
    days: dict[str, set[str]] = {}
    for row in rows:
        days.setdefault(row.machine, set()).add(row.measured)
    machines = [f"{name} ({', '.join(sorted(when))})" for name, when in days.items()]
    return f"Measured on {'; '.join(machines)}."
