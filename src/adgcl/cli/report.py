"""`adgcl report`: a page to send, or tables and figures from Records."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from adgcl.cli import options
from adgcl.cli.screen import Screen
from adgcl.core.words import counted, file_size


def report(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[FOLDER]...", help="Runs, models and folders of Records. Default: results."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The file to write: .html, .md, .tex, .csv or .svg.")
    ] = None,
    data: Annotated[
        str | None,
        typer.Option("--data", help="Data for the map and the explanations. Default: what the run was trained on."),
    ] = None,
    plain: Annotated[bool, typer.Option("--plain", help="Leave out the map and the explanations.")] = False,
    data_dir: options.DataDir = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Make the page to send, or a table or figure from Records.

    As .html, one self-contained page: what was trained on what, curves, scores
    beside the floors and the paper, the map, what the augmenter drops, and how
    to repeat it. Otherwise the ending of --out selects Markdown, LaTeX, CSV or
    SVG; without --out the table is printed. A run folder as .svg gives its
    training curves. A Markdown page with the marks <!-- results:begin --> and
    <!-- results:end --> keeps its text and gets new tables between them;
    "headline" instead of "results" gives a short table for a front page.

    \b
    Examples:
      adgcl report runs/quickstart --out report.html
      adgcl report runs/mine model results --out report.html
      adgcl report results --out results.md
      adgcl report runs/mine --out curves.svg
    """
    screen = Screen(as_json, quiet)
    places = folders or [Path("results")]
    if out is not None and out.suffix.lower() == ".html":
        _page(screen, places, out, data, plain, data_dir)
        return
    from adgcl.reports.documents import write_curves, write_report
    from adgcl.reports.folders import find_records, is_run_folder, kept_metrics
    from adgcl.reports.record_tables import record_list

    if len(places) == 1 and is_run_folder(places[0]):
        path = out or places[0] / "curves.svg"
        write_curves(places[0], path, kept_metrics(places[0]))
        screen.emit({"out": str(path)})
        screen.show(f"Wrote {path}.")
        screen.say(f"A page with everything: adgcl report {places[0]} --out report.html")
        return
    records = [record for folder in places for record in find_records(folder)]
    if out is not None:
        write_report(records, out)
    count = counted(len(records), "Record")
    screen.emit({"out": str(out) if out else None, "records": [r.to_json() for r in records]})
    screen.show(record_list(records) if out is None else f"Wrote {out} from {count}.")


def _page(screen: Screen, places: list[Path], out: Path, data: str | None, plain: bool, data_dir: Path | None) -> None:
    from adgcl.cli.progress import Bars
    from adgcl.core.files import check_writable, write_text
    from adgcl.experiments.source import Source
    from adgcl.pages.material import gather
    from adgcl.pages.report_page import report_page

    check_writable(out.parent)
    material = gather(list(dict.fromkeys(places)))
    name = data or (material.runs[0].source if material.runs else None)
    source = Source(name, data_dir=data_dir) if name else None
    with Bars(screen) as bars:
        write_text(out, report_page(material, source, plain=plain, progress=bars))
    counts = {"runs": len(material.runs), "models": len(material.models), "records": len(material.records)}
    screen.emit({"out": str(out), **counts, "bytes": out.stat().st_size})
    made = ", ".join(f"{count} {noun[:-1] if count == 1 else noun}" for noun, count in counts.items() if count)
    screen.show(f"Wrote {out} from {made}: {file_size(out.stat().st_size)}, opens without a network.")
