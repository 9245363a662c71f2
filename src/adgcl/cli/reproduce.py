"""`adgcl reproduce`: rerun a table of the paper."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adgcl.cli import options
from adgcl.cli.screen import Screen, table
from adgcl.cli.typed import typed_command
from adgcl.core.errors import ConfigError
from adgcl.core.files import check_writable

if TYPE_CHECKING:
    from adgcl.experiments.tables.reproduction import Place, Reproduction, TableRequest
    from adgcl.published import PublishedTable
    from adgcl.reports.comparison import Comparison

_MODES = {"as_published": ("as_published",), "strict": ("strict",), "both": ("as_published", "strict")}
_PROBES = {"linear": ("linear",), "svm": ("svm",), "both": ("linear", "svm")}
_PANEL, _TRANSFER = "Which part", "Tables about pre-training"


def reproduce(
    ctx: typer.Context,
    name: Annotated[
        str,
        typer.Argument(
            metavar="TABLE",
            help="table1-tu, table1-ogb, table2, table3, table-svm, table-joao-linear, table-joao-svm, "
            "table-joao-transfer, table-joao-semi.",
        ),
    ],
    datasets: Annotated[
        list[str] | None,
        typer.Option("--datasets", help="Only these data sets. Default: all of the table's.", rich_help_panel=_PANEL),
    ] = None,
    methods: Annotated[
        list[str] | None,
        typer.Option(
            "--methods",
            help="Only these rows. Default: the table's, plus some it does not print (statistics, ecfp, ...).",
            rich_help_panel=_PANEL,
        ),
    ] = None,
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="How many seeds.", rich_help_panel=_PANEL)] = 3,
    first_seed: Annotated[
        int,
        typer.Option(
            "--first-seed",
            min=0,
            help="The first of the seeds. Those that --out has of the same settings, perhaps from another machine, "
            "join them in one Record.",
            rich_help_panel=_PANEL,
        ),
    ] = 0,
    mode: Annotated[
        str | None,
        typer.Option(
            "--mode",
            help="as_published, strict, or both side by side. Default: as_published, and both for few labels.",
            rich_help_panel=_PANEL,
        ),
    ] = None,
    probe: Annotated[
        str | None,
        typer.Option(
            "--probe",
            help="both: use linear and SVM probes at once. Default: the table's.",
            rich_help_panel=_PANEL,
        ),
    ] = None,
    corpus: Annotated[
        str | None,
        typer.Option(
            "--corpus",
            metavar="DATA",
            help="For table2: pre-train on these molecules. Default: ZINC-250K.",
            rich_help_panel=_TRANSFER,
        ),
    ] = None,
    pretraining: Annotated[
        list[str] | None,
        typer.Option(
            "--pretrain-set",
            metavar="KEY=VALUE",
            help="One setting of pre-training; may be repeated. --set is for fine-tuning.",
            rich_help_panel=_TRANSFER,
        ),
    ] = None,
    encoders: Annotated[
        list[str] | None,
        typer.Option(
            "--encoder",
            metavar="ROW=RUN",
            help="For table2: start this row from a run that is there, instead of pre-training; may be repeated.",
            rich_help_panel=_TRANSFER,
        ),
    ] = None,
    jobs: options.Processes = None,
    executor: options.Executor = "processes",
    executor_settings: options.ExecutorSettings = None,
    max_hours: options.MaxHours = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder for Records and tables.")] = Path("results"),
    work: options.Work = Path("runs"),
    formats: Annotated[
        list[str] | None, typer.Option("--formats", help="txt, md, tex, csv, html. Default: all.")
    ] = None,
    only_list: options.OnlyList = False,
    assignments: options.Assignments = None,
    data_dir: options.DataDir = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Rerun a table of the paper and compare with the paper's own numbers.

    Runs every method on every data set with several seeds, on all cores. Finished
    jobs are never run again: if it is stopped or killed, the same command resumes.
    Several commands may work in the same folders. A cell that cannot be filled
    says why.

    \b
    Examples:
      adgcl reproduce table1-tu --datasets MUTAG PROTEINS --seeds 3
      adgcl reproduce table-svm --mode both --probe both --max-hours 8
      adgcl reproduce table1-ogb --methods adgcl random_init ecfp --list
      adgcl reproduce table2 --datasets BBBP BACE --pretrain-set epochs=3
      adgcl reproduce table2 --methods adgcl --encoder adgcl=runs/zinc
      adgcl reproduce table3 --datasets PROTEINS --seeds 1 --max-hours 0.3
      adgcl reproduce table1-tu --executor ray --executor-set address=head:6379
      adgcl reproduce table1-tu --executor slurm --executor-set array=16 \\
                                --executor-set time=240
    """
    from adgcl.cli.progress import Bars
    from adgcl.experiments.tables.reproduction import TableRequest, open_table
    from adgcl.experiments.tables.transfer import parse_runs
    from adgcl.published import layout
    from adgcl.reports.comparison_files import check_formats

    screen = Screen(as_json, quiet)
    layout_ = layout(name)
    wanted = check_formats(formats or ())
    check_writable(out)
    check_writable(work)
    request = TableRequest(
        layout_,
        tuple(datasets or ()),
        tuple(methods or ()),
        _choice("mode", mode or _usual_mode(layout_), _MODES),
        seeds,
        _choice("probe", probe, _PROBES) if probe else (layout_.probe,),
        tuple(assignments or ()),
        work,
        out,
        jobs,
        executor,
        None if max_hours is None else max_hours * 3600,
        data_dir,
        typed_command(ctx),
        corpus,
        tuple(pretraining or ()),
        parse_runs(tuple(encoders or ())),
        tuple(executor_settings or ()),
        first_seed,
    )
    _check_probe(request)
    with Bars(screen) as bars:
        opened = open_table(request, progress=bars)
    if only_list:
        _list(screen, opened)
    else:
        _run(screen, opened)
        _finish(screen, opened, wanted)


def _choice(what: str, name: str, known: dict[str, tuple[str, ...]]) -> Any:
    if name not in known:
        raise ConfigError(f"There is no {what} called {name!r}.", f"Use {', '.join(known)}.")
    return known[name]


def _usual_mode(table: PublishedTable) -> str:
    """Published figures about few labels are leaky: fair ones stand beside them."""
    return "both" if table.protocol == "semi_supervised" else "as_published"


def _check_probe(request: TableRequest) -> None:
    if request.table.probe not in request.probes:
        probe = request.table.probe
        raise ConfigError(f"{request.table.name} uses the {probe} probe.", f"Use --probe {probe} or both.")


def _list(screen: Screen, opened: Reproduction) -> None:
    """What would run, what is finished, and how long the rest may take."""
    from adgcl.experiments.tables.listing import listing
    from adgcl.reports.numbers import seconds_label

    rows, seconds = listing(opened)
    screen.emit({"table": opened.request.table.name, "jobs": rows, "estimated_hours": round(seconds / 3600, 3)})
    cells = [
        (r["row"], r["dataset"], r["mode"], r["seeds"], r["finished"], r["jobs"], r["estimate"], r["note"])
        for r in rows
    ]
    heads = ("row", "data set", "mode", "seeds", "finished", "jobs", "left", "note")
    screen.show(table(heads, cells, right=heads[3:7]))
    workers = opened.executor.workers
    screen.show(
        f"About {seconds_label(seconds)} left with {workers} jobs at a time (a rough estimate until jobs finish)."
    )


def _run(screen: Screen, opened: Reproduction) -> None:
    from adgcl.cli.job_progress import JobBars

    with JobBars(screen) as bars:
        schedule = opened.schedule(bars)
        bars.begin(schedule)
        opened.run(schedule)


def _finish(screen: Screen, opened: Reproduction, formats: tuple[str, ...]) -> None:
    from adgcl.reports.comparison_files import tables_of, write_comparison
    from adgcl.reports.comparison_tables import to_tree

    comparison = _compare(opened)
    paths = write_comparison(comparison, opened.request.out, formats)
    unfinished = [str(job) for job in opened.jobs if job.result() is None]
    tree = {"jobs": len(opened.jobs), "unfinished_jobs": unfinished, "files": [str(path) for path in paths]}
    screen.emit({**to_tree(comparison), **tree})
    for shown in tables_of(comparison):
        screen.show(shown)
    screen.say("Kept as " + ", ".join(map(str, paths)))
    if unfinished:
        screen.say(f"{len(unfinished)} of {len(opened.jobs)} jobs are not finished: run the same command to resume.")


def _compare(opened: Reproduction) -> Comparison:
    from adgcl.reports.comparison import compare_outcomes

    outcomes = opened.outcomes()
    pairs: dict[Place, Any] = {place: (found.record, found.gap) for place, found in outcomes.items()}
    request = opened.request
    names = [column.name for column in opened.columns]
    return compare_outcomes(request.table, request.modes, opened.shown_rows(outcomes), names, pairs)
