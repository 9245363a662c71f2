"""`adgcl report`: tables and figures from Records."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from adgcl.cli.options import Json
from adgcl.cli.screen import Screen


def report(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="A folder of Records (`adgcl evaluate --out`), or a run folder.")
    ] = Path("results"),
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The file to write: .md, .html, .tex, .csv or .svg.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Make a table or a figure from Records.

    The extension of --out selects Markdown, HTML, LaTeX, CSV or SVG; without
    --out the table is printed. A run folder gives its training curves (.svg).
    A Markdown page with the marks <!-- results:begin --> and <!-- results:end -->
    keeps its text and gets new tables between them; "headline" instead of
    "results" gives a short table for a front page.

    \b
    Examples:
      adgcl report results
      adgcl report results --out report.html
      adgcl report runs/mine --out curves.svg
    """
    from adgcl.reports.documents import write_curves, write_report
    from adgcl.reports.folders import find_records, is_run_folder, kept_metrics
    from adgcl.reports.record_tables import record_list

    screen = Screen(as_json)
    if is_run_folder(folder):
        path = out or folder / "curves.svg"
        write_curves(folder, path, kept_metrics(folder))
        screen.emit({"out": str(path)})
        screen.show(f"Wrote {path}.")
        return
    records = find_records(folder)
    if out is not None:
        write_report(records, out)
    count = f"{len(records)} Record{'s' if len(records) != 1 else ''}"
    screen.emit({"out": str(out) if out else None, "records": [r.to_json() for r in records]})
    screen.show(record_list(records) if out is None else f"Wrote {out} from {count}.")
