"""Documents: Records written as Markdown, HTML, LaTeX, CSV or a figure, chosen by the file's ending."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path

from adgcl.core.errors import DataError, OutputError
from adgcl.core.files import write_text
from adgcl.core.records import Record, read_records
from adgcl.reports.curves import curves_of_metrics, figure_of_curves
from adgcl.reports.panels import figure_of_records
from adgcl.reports.pivots import pivots
from adgcl.reports.results_page import results_page
from adgcl.reports.tables import COLUMNS, as_csv, as_markdown, cells

_TITLE = "adgcl results"
_METRICS = "metrics.jsonl"
# What a page may hold between two marks `<!-- NAME:begin -->` and `<!-- NAME:end -->`.
_SECTIONS: Mapping[str, Callable[[Sequence[Record]], str]] = {
    "results": lambda records: _tables(records),
    # What the paper's first tables hold; enough for a front page.
    "headline": lambda records: _tables([r for r in records if r.mode == "as_published" and r.probe == "linear"]),
    "comparisons": results_page,
}
_NUMBERS = ("result", "seeds", "published", "difference", "time")


def find_records(folder: Path) -> list[Record]:
    """Every Record below `folder`, or a clear word that there is none."""
    if not Path(folder).is_dir():
        raise DataError(f"There is no folder {folder}.", "Give the folder that `adgcl evaluate --out` wrote into.")
    records = read_records(folder)
    if not records:
        raise DataError(f"There are no Records in {folder}.", "Make some with `adgcl evaluate DATA --out results`.")
    return records


def write_report(records: Sequence[Record], path: Path) -> None:
    """Write `records` to `path` in the format its ending names."""
    writer = WRITERS.get(path.suffix.lower())
    if writer is None:
        raise OutputError(f"A report cannot end in {path.suffix or 'nothing'!r}.", f"Use one of {', '.join(WRITERS)}.")
    old = path.read_text(encoding="utf-8") if path.suffix.lower() == ".md" and path.is_file() else ""
    write_text(path, put_between_marks(old, records) if has_marks(old) else writer(records))


def has_marks(text: str) -> bool:
    """Whether a page says where its tables go."""
    return any(all(mark in text for mark in _marks(name)) for name in _SECTIONS)


def put_between_marks(text: str, records: Sequence[Record]) -> str:
    """A page with its tables made anew: what stands between two marks is replaced, the rest stays."""
    for name, make in _SECTIONS.items():
        begin, end = _marks(name)
        if begin in text and end in text:
            before, _, rest = text.partition(begin)
            _, _, after = rest.partition(end)
            text = f"{before}{begin}\n{make(records)}\n{end}{after}"
    return text


def _marks(name: str) -> tuple[str, str]:
    return f"<!-- {name}:begin -->", f"<!-- {name}:end -->"


def is_run_folder(folder: Path) -> bool:
    """Whether `folder` holds a run's metrics instead of Records."""
    return (Path(folder) / _METRICS).is_file()


def write_curves(folder: Path, path: Path) -> None:
    """Draw what a run measured after every epoch."""
    if path.suffix.lower() != ".svg":
        raise OutputError(f"The curves of a run cannot end in {path.suffix or 'nothing'!r}.", "Use .svg.")
    lines = (Path(folder) / _METRICS).read_text(encoding="utf-8").splitlines()
    try:
        rows = [json.loads(line) for line in lines]
    except json.JSONDecodeError as error:
        raise DataError(f"{folder} has damaged metrics: {error}.", "Resume the run; that repairs them.") from error
    write_text(path, figure_of_curves(curves_of_metrics(rows), f"Training in {folder}"))


def to_markdown(records: Sequence[Record]) -> str:
    """Tables as papers print them, then every Record on a line of its own."""
    return f"# {_TITLE}\n\n{_tables(records)}\n## Every record\n\n{as_markdown(records)}\n{_footer(records)}\n"


def _tables(records: Sequence[Record]) -> str:
    return "\n".join(pivot.to_markdown() for pivot in pivots(records))


def to_latex(records: Sequence[Record]) -> str:
    """A LaTeX table for each metric, probe and mode."""
    return "\n".join(pivot.to_latex() for pivot in pivots(records))


def to_html(records: Sequence[Record]) -> str:
    """One page that needs nothing else: figure and tables."""
    from jinja2 import Environment

    template = files("adgcl.reports").joinpath("templates/report.html").read_text(encoding="utf-8")
    tables = [
        {"title": p.title, "columns": p.columns, "rows": p.rows, "numbers": p.columns[1:]} for p in pivots(records)
    ]
    tables.append(
        {"title": "Every record", "columns": COLUMNS, "rows": tuple(map(cells, records)), "numbers": _NUMBERS}
    )
    page = Environment(autoescape=True).from_string(template)
    return page.render(title=_TITLE, figure=figure_of_records(records), tables=tables, footer=_footer(records)) + "\n"


def _footer(records: Sequence[Record]) -> str:
    versions = sorted({r.versions.get("adgcl", "?") for r in records})
    machines = sorted({f"{r.machine.get('processor', '?')}, {r.machine.get('cores', '?')} cores" for r in records})
    made = f"Made from {len(records)} Records by adgcl {', '.join(versions)} on {'; '.join(machines)}."
    return f"{made} Where several Records are about the same thing, the tables by method show the newest."


WRITERS: Mapping[str, Callable[[Sequence[Record]], str]] = {
    ".md": to_markdown,
    ".html": to_html,
    ".tex": to_latex,
    ".csv": as_csv,
    ".svg": figure_of_records,
}
