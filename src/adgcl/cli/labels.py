"""`adgcl labels`: how many labels do I need?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adgcl.cli import options
from adgcl.cli.reading import Reading, reads_data
from adgcl.cli.requests import make_source
from adgcl.cli.screen import Screen
from adgcl.cli.typed import typed_command
from adgcl.core.errors import ConfigError
from adgcl.core.files import check_writable

if TYPE_CHECKING:
    from adgcl.experiments.label_efficiency import Efficiency
    from adgcl.reports.label_curves import LabelCurves

_PANEL = "Curves"


@reads_data()
def labels(
    ctx: typer.Context,
    data: options.DataArgument,
    method: Annotated[
        str, typer.Option("--method", "-m", help="Pre-train on these graphs by this method.", rich_help_panel=_PANEL)
    ] = "adgcl",
    rates: Annotated[
        list[float] | None,
        typer.Option(
            "--rates",
            help="Shares of the labels, in percent. Default: 1 2 5 10 20 50 100.",
            rich_help_panel=_PANEL,
        ),
    ] = None,
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="How many seeds.", rich_help_panel=_PANEL)] = 3,
    folds: Annotated[
        int, typer.Option("--folds", min=3, help="Folds of data without a split.", rich_help_panel=_PANEL)
    ] = 5,
    encoders: Annotated[
        list[str] | None,
        typer.Option(
            "--encoder",
            metavar="RUN",
            help="Also start from this run, checkpoint or packaged encoder; may be repeated.",
            rich_help_panel=_PANEL,
        ),
    ] = None,
    pretraining: Annotated[
        list[str] | None,
        typer.Option(
            "--pretrain-set",
            metavar="KEY=VALUE",
            help="One setting of pre-training; may be repeated. --set is for learning from labels.",
            rich_help_panel=_PANEL,
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The folder for table and plot. Default: labels-DATA.")
    ] = None,
    jobs: options.Jobs = None,
    max_hours: Annotated[
        float | None, typer.Option("--max-hours", min=0.0, help="Stop after this time; the same command resumes.")
    ] = None,
    work: options.Work = Path("runs"),
    assignments: options.Assignments = None,
    *,
    reading: Reading,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """How many labels do I need, and does pre-training save some?

    Learns from 1 % to 100 % of the labels: from scratch, after pre-training on
    all graphs without labels, from packaged encoders that fit, and with a linear
    model on fingerprints or statistics, which needs no network. Every number of
    labels includes those that choose the best epoch. Gives a table, a plot and a
    sentence.

    Ctrl-C saves; the same command resumes.

    \b
    Examples:
      adgcl labels PROTEINS
      adgcl labels assay.csv --label-column active --split scaffold
      adgcl labels PROTEINS --rates 5 10 20 --seeds 5 --method graphcl
    """
    from adgcl.cli.job_progress import JobBars
    from adgcl.cli.progress import Bars
    from adgcl.experiments.label_efficiency import RATES, LabelRequest, plan_labels, run_labels
    from adgcl.experiments.source import LoadedSource

    screen = Screen(as_json, quiet)
    source = make_source(data, **reading)
    check_writable(work)
    with Bars(screen) as bars:
        loaded = LoadedSource.of(source, bars)
    folder = out or Path(f"labels-{loaded.name}")
    check_writable(folder)
    request = LabelRequest(
        method,
        tuple(_share(rate) for rate in rates) if rates else RATES,
        seeds,
        folds,
        tuple(encoders or ()),
        tuple(assignments or ()),
        tuple(pretraining or ()),
        work,
        jobs,
        limit=None if max_hours is None else max_hours * 3600,
    )
    planned = plan_labels(loaded, request)
    with JobBars(screen) as watcher:
        found = run_labels(planned, watcher)
    _finish(screen, found, folder, typed_command(ctx))


def _share(percent: float) -> float:
    if not 0 < percent <= 100:
        raise ConfigError(f"{percent:g} % is no share of the labels.", "Give rates above 0 and up to 100, in percent.")
    return percent / 100


def _finish(screen: Screen, found: Efficiency, folder: Path, command: str) -> None:
    from adgcl.core.files import ensure_folder, write_json, write_text
    from adgcl.reports.formats.csv_text import table_of_values, to_csv
    from adgcl.reports.label_curves import label_table, label_values, sentences
    from adgcl.reports.label_figure import figure_of_labels

    curves = _curves(found)
    values = label_values(curves)
    said = sentences(curves)
    ensure_folder(folder)
    tree = {"command": command, "sentences": said, "notes": list(curves.notes), "points": values}
    write_json(folder / "labels.json", tree)
    plain = [{key: value for key, value in row.items() if key != "values"} for row in values]
    write_text(folder / "labels.csv", to_csv(table_of_values(plain, tuple(plain[0]))))
    write_text(folder / "labels.svg", figure_of_labels(curves))
    files = [str(folder / name) for name in ("labels.csv", "labels.json", "labels.svg")]
    screen.emit({**tree, "files": files, "unfinished_jobs": found.unfinished})
    screen.show(label_table(curves))
    for sentence in said:
        screen.show(sentence)
    screen.say("Kept as " + ", ".join(files))
    if found.unfinished:
        screen.say(f"{found.unfinished} jobs are not finished: run the same command to resume.")


def _curves(found: Efficiency) -> LabelCurves:
    from adgcl.reports.label_curves import Curve, LabelCurves, Point

    dataset = found.data.content
    points: dict[tuple[str, str, str], list[Point]] = {}
    for scored in found.scores:
        curve = (scored.way.name, scored.way.kind, scored.scratch)
        points.setdefault(curve, []).append(Point(scored.rate, scored.labels, scored.values))
    curves = tuple(Curve(name, kind, tuple(of), scratch) for (name, kind, scratch), of in points.items())
    return LabelCurves(dataset.name, dataset.task.metric, dataset.task.higher_is_better, curves, found.notes)
