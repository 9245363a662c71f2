"""`adgcl sweep`: any setting over a grid, every trial kept, with tables and figures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adgcl.cli import options
from adgcl.cli.screen import Screen, table
from adgcl.cli.typed import typed_command
from adgcl.core.errors import ConfigError, Interrupted
from adgcl.core.files import check_writable

if TYPE_CHECKING:
    from adgcl.experiments.sweeps.arms import SweepPreset
    from adgcl.experiments.sweeps.sweep import Sweep

_PANEL = "Which trials"


def sweep(
    ctx: typer.Context,
    preset: Annotated[
        str | None,
        typer.Option(
            "--preset",
            help="A sweep with figures: figure2, figure3, budget or budget-everywhere.",
            rich_help_panel=_PANEL,
        ),
    ] = None,
    grids: Annotated[
        list[str] | None,
        typer.Option(
            "--grid",
            metavar="KEY=V,V,...",
            help="Values of one setting; several grids are combined.",
            rich_help_panel=_PANEL,
        ),
    ] = None,
    methods: Annotated[
        list[str] | None,
        typer.Option("--methods", help="Methods or rows to sweep. Default: adgcl.", rich_help_panel=_PANEL),
    ] = None,
    datasets: Annotated[
        list[str] | None,
        typer.Option("--datasets", help="The data. Default: the preset's.", rich_help_panel=_PANEL),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option("--seeds", min=1, help="How many seeds. Default: the preset's, or 3.", rich_help_panel=_PANEL),
    ] = None,
    epochs: options.Epochs = None,
    mode: Annotated[
        str | None,
        typer.Option("--mode", help="as_published or strict. Default: the preset's, or strict."),
    ] = None,
    jobs: options.Processes = None,
    executor: options.Executor = "processes",
    executor_settings: options.ExecutorSettings = None,
    max_hours: options.MaxHours = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The folder for tables and figures. Default: results/sweeps/NAME."),
    ] = None,
    work: options.Work = Path("runs"),
    formats: Annotated[
        list[str] | None, typer.Option("--formats", help="Of figures: png, svg, pdf. Default: png and svg.")
    ] = None,
    only_list: options.OnlyList = False,
    assignments: options.Assignments = None,
    data_dir: options.DataDir = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Try the values of any setting, and draw what comes out.

    Every trial is kept with its course: losses, drop ratios, validation and test
    scores of each epoch. All settings are checked before anything runs. Finished
    trials are never run again: if it is stopped or killed, the same command
    resumes. Later commands may add data sets and seeds to the same folder.

    \b
    Examples:
      adgcl sweep --preset figure3 --datasets MUTAG --seeds 1 --epochs 20
      adgcl sweep --preset figure2
      adgcl sweep --grid reg_lambda=1,5,10 --datasets MUTAG PROTEINS
      adgcl sweep --grid gate.temperature=0.5,1 --grid drop_budget=0.1,0.3 \\
                  --datasets MUTAG --out results/sweeps/gates
      adgcl sweep --methods nadgcl --grid drop_ratio=0.1,0.5 --datasets my.csv
    """
    from adgcl.cli.progress import Bars
    from adgcl.experiments.sweeps.sweep import SweepRequest, open_sweep
    from adgcl.experiments.sweeps.tables import check_epochs, check_folder

    screen = Screen(as_json, quiet)
    chosen = _chosen(preset, methods, grids)
    kinds = _formats(formats)
    request = SweepRequest(
        chosen,
        tuple(datasets or ()),
        seeds,
        epochs,
        _mode(mode),
        tuple(assignments or ()),
        work,
        out or Path("results/sweeps") / chosen.name,
        jobs,
        executor,
        None if max_hours is None else max_hours * 3600,
        data_dir,
        typed_command(ctx),
        tuple(executor_settings or ()),
    )
    check_writable(request.out)
    check_writable(work)
    check_folder(request)
    with Bars(screen) as bars:
        opened = open_sweep(request, progress=bars)
    check_epochs(opened)
    if only_list:
        _list(screen, opened)
        return
    try:
        _run(screen, opened)
    except Interrupted:
        _keep(opened)  # What is finished can be looked at before the rest is.
        raise
    _finish(screen, opened, kinds)


def _chosen(preset: str | None, methods: list[str] | None, grids: list[str] | None) -> SweepPreset:
    from adgcl.experiments.sweeps.arms import own_sweep, sweep_preset

    if preset is None:
        return own_sweep(methods or (), grids or ())
    if methods or grids:
        raise ConfigError(f"The preset {preset!r} has methods and grids of its own.", "Leave out --methods and --grid.")
    return sweep_preset(preset)


def _mode(name: str | None) -> Any:
    if name not in (None, "as_published", "strict"):
        raise ConfigError(f"There is no mode called {name!r}.", "Use as_published or strict.")
    return name


def _formats(names: list[str] | None) -> tuple[str, ...]:
    from adgcl.reports.sweeps.drawing import FORMATS

    for name in names or ():
        if name not in FORMATS:
            raise ConfigError(f"Figures cannot be written as {name!r}.", f"Use {', '.join(FORMATS)}.")
    return tuple(names or FORMATS[:2])


def _list(screen: Screen, opened: Sweep) -> None:
    """What would run, what is finished, and how long the rest may take."""
    from adgcl.experiments.sweeps.listing import listing
    from adgcl.reports.numbers import seconds_label

    rows, seconds = listing(opened)
    screen.emit({"sweep": opened.request.preset.name, "trials": rows, "estimated_hours": round(seconds / 3600, 3)})
    heads = ("data set", "arm", "trials", "finished", "left", "note")
    cells = [(r["dataset"], r["arm"], r["trials"], r["finished"], r["estimate"], r["note"]) for r in rows]
    screen.show(table(heads, cells, right=heads[2:5]))
    workers = opened.executor.workers
    about = f"About {seconds_label(seconds)} left with {workers} jobs at a time (a rough estimate until jobs finish)."
    screen.show(about)


def _run(screen: Screen, opened: Sweep) -> None:
    from adgcl.cli.job_progress import JobBars

    with JobBars(screen) as bars:
        schedule = opened.schedule(bars)
        bars.begin(schedule)
        opened.run(schedule)


def _keep(opened: Sweep) -> tuple[dict[str, list[dict[str, Any]]], list[Path]]:
    from adgcl.experiments.sweeps.collecting import collect
    from adgcl.experiments.sweeps.tables import keep

    return keep(opened.request, collect(opened))


def _finish(screen: Screen, opened: Sweep, formats: tuple[str, ...]) -> None:
    from adgcl.experiments.sweeps.tables import commands_of
    from adgcl.reports.sweeps.page import findings_of, findings_table, gap_lines, to_tree, write_figures, write_page
    from adgcl.reports.sweeps.summary import summary

    request, preset = opened.request, opened.request.preset
    tables, paths = _keep(opened)
    figures, lacking = write_figures(preset.name, tables, request.out, formats)
    page = write_page(preset.name, preset.title, commands_of(request.out), tables, request.out, figures)
    found = findings_of(preset.name, tables)
    screen.emit(to_tree(tables, found, [*paths, *figures, page]))
    screen.show(summary(tables["trials"], preset.title))
    if found:
        screen.show(findings_table(found))
    for line in gap_lines(tables["trials"]):
        screen.warn(line)
    if lacking:
        screen.warn(f"No figures: {lacking} Then run the same command again; no trial is repeated.")
    screen.say(f"Kept in {request.out}: " + ", ".join(path.name for path in (page, *paths, *figures)))
    left = sum(job.result() is None for job in opened.jobs)
    if left:
        screen.say(f"{left} of {len(opened.jobs)} trials are not finished: run the same command to resume.")
