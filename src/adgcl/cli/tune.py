"""`adgcl tune`: a search for good settings, on validation data alone."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adgcl.cli import options
from adgcl.cli.reading import Reading, reads_data
from adgcl.cli.requests import data_words, given, label_words, make_request, make_source
from adgcl.cli.screen import Screen, table
from adgcl.cli.typed import typed_command
from adgcl.core.files import check_writable

if TYPE_CHECKING:
    from adgcl.core.records import Record
    from adgcl.experiments.tuning.choice import Best
    from adgcl.experiments.tuning.search import Search
    from adgcl.experiments.tuning.settling import SearchRequest, Settled

_PANEL = "The search"


@reads_data()
def tune(
    ctx: typer.Context,
    data: options.DataArgument,
    trials: Annotated[
        int, typer.Option("--trials", "-n", help="Trials in all, earlier ones included.", rich_help_panel=_PANEL)
    ] = 20,
    method: options.Method = None,
    searched: Annotated[
        list[str] | None,
        typer.Option(
            "--search",
            metavar="KEY[=RANGE]",
            help="Search only these settings, in their own range, in LOW..HIGH or among A,B,C. --list shows all.",
            rich_help_panel=_PANEL,
        ),
    ] = None,
    pruner: Annotated[
        str, typer.Option("--pruner", help="Which trials stop early: median, hyperband, none.", rich_help_panel=_PANEL)
    ] = "median",
    seed: Annotated[
        int, typer.Option("--seed", min=0, help="Decides what is tried, and every run.", rich_help_panel=_PANEL)
    ] = 0,
    storage: Annotated[
        str | None,
        typer.Option(
            "--storage",
            metavar="PATH|URL",
            help="A journal file, or an address that Optuna knows. Default: journal.log in --out.",
            rich_help_panel=_PANEL,
        ),
    ] = None,
    study: Annotated[
        str, typer.Option("--study", help="The name of the search in its storage.", rich_help_panel=_PANEL)
    ] = "adgcl",
    seeds: Annotated[
        int,
        typer.Option("--seeds", min=0, help="Seeds of the final score; 0 leaves it out.", rich_help_panel="Evaluation"),
    ] = 5,
    protocol: options.Protocol = None,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", min=1, help="Trials at a time. Default: one per core, or 1 for wide networks."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The folder of the search. Default: tune/DATA-METHOD."),
    ] = None,
    work: options.Work = Path("runs"),
    only_list: options.OnlyList = False,
    epochs: options.Epochs = None,
    batch_size: options.BatchSize = None,
    device: options.Device = None,
    precision: options.Precision = None,
    config: options.ConfigFile = None,
    assignments: options.Assignments = None,
    trackers: options.Trackers = None,
    *,
    reading: Reading,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Search for good settings, on validation data alone.

    Every setting with a range of its own is searched, unless you set it; the
    first trial has the usual settings. No trial sees a label of the test part:
    the data's own, or a fifth of it. There the best settings are tested at the
    end, with several seeds.

    Stopped or killed, the same command resumes. Run it in several processes or
    on several machines that share --out: together they make --trials trials.

    \b
    Examples:
      adgcl tune PROTEINS --trials 20
      adgcl tune my.csv --label-column active --epochs 30 --trials 50
      adgcl tune MUTAG --search reg_lambda --search num_layers=2..4 -n 30
      adgcl tune MUTAG --method graphcl --list
      adgcl tune MUTAG -n 100 --storage postgresql://me@host/optuna
    """
    from adgcl.cli.progress import Bars
    from adgcl.experiments.tuning.search import open_search
    from adgcl.experiments.tuning.settling import SearchRequest, settle

    screen = Screen(as_json, quiet)
    training = {"epochs": epochs, "batch_size": batch_size, "device": device, "precision": precision}
    asked = make_request(method, config, assignments, given(name=protocol), trackers=trackers, **training)
    request = SearchRequest(
        make_source(data, **reading),
        asked,
        trials,
        out or _folder(data, method),
        tuple(searched or ()),
        seed,
        pruner,
        storage or "",
        study,
        work,
        typed_command(ctx),
    )
    check_writable(request.out)
    check_writable(work)
    with Bars(screen) as bars:
        if only_list:
            _list(screen, settle(request, progress=bars), request)
            return
        search = open_search(request, progress=bars)
    _run(screen, search, jobs)
    _finish(screen, search, seeds, jobs)


def _folder(data: str, method: str | None) -> Path:
    from adgcl.core.safe_text import file_name

    return Path("tune") / file_name(f"{Path(data).stem}-{method or 'adgcl'}")


def _list(screen: Screen, settled: Settled, request: SearchRequest) -> None:
    """What is searched, and how far the search is; one that is not there is not begun."""
    from adgcl.core.ranges import shown
    from adgcl.experiments.tuning.choice import rows_of
    from adgcl.experiments.tuning.search import open_search
    from adgcl.reports.tuning.tables import counted

    rows = rows_of(open_search(request)) if Path(request.where).is_file() else []
    start, data = settled.start, settled.data
    ranges = [{"setting": name, "start": start[name], **r.to_tree()} for name, r in settled.space.items()]
    screen.emit({"searched": ranges, "trials": rows, "held_out_graphs": data.test_size})
    cells = [(name, shown(start[name]), str(range_)) for name, range_ in settled.space.items()]
    screen.show(table(("setting", "start", "searched"), cells))
    screen.show(f"{data.test_size} of {len(data.content)} graphs are kept for the final test.")
    screen.say(f"{counted(rows)}." if rows else "No trial has begun.")


def _run(screen: Screen, search: Search, jobs: int | None) -> None:
    from adgcl.cli.tune_progress import TrialBars
    from adgcl.experiments.tuning.running import run_search

    with TrialBars(screen, search) as bars:
        run_search(search, jobs, bars)


def _finish(screen: Screen, search: Search, seeds: int, jobs: int | None) -> None:
    from adgcl.core.files import write_text
    from adgcl.experiments.tuning.choice import best_of, outcome_of, settings_file
    from adgcl.protocols.record_folder import keep
    from adgcl.reports.tuning.figures import write_figures
    from adgcl.reports.tuning.page import write_page, write_trials
    from adgcl.reports.tuning.tables import best_table, counted, failures

    out, elsewhere = search.request.out, search.running()[1]
    best = best_of(search)
    settings = out / "best.toml"
    write_text(settings, settings_file(search, best))
    records = _tested(screen, search, best, seeds, jobs) if seeds and not elsewhere else []
    found = outcome_of(search, records)
    kept = [keep(record, out) for record in records]
    figures, lacking = write_figures(found, out)
    paths = [settings, write_trials(found, out), write_page(found, figures, out), *figures, *kept]
    screen.emit(
        {
            "best": {"trial": best.number, "valid": best.valid, "values": best.values},
            "trials": found.trials,
            "importance": found.importance,
            "records": [record.to_json() for record in records],
            "files": [str(path) for path in paths],
        }
    )
    screen.show(best_table(found))
    screen.show(f"{counted(found.trials)}.")
    _show_scores(screen, records)
    for line in failures(found.trials):
        screen.warn(line)
    if elsewhere:
        screen.warn(f"{elsewhere} trials are running elsewhere: the same command shows the result when they are done.")
    if lacking:
        screen.warn(f"No figures: {lacking} Then run the same command again; no trial is repeated.")
    names = [path.name for path in paths if path not in kept]
    screen.say(f"Kept in {out}: {', '.join(names)}{' and the Records of the score' if kept else ''}")
    if search.wanted < search.request.trials:
        screen.say(f"There are no more than {search.wanted} combinations: all have been tried.")
    _print_next(screen, search, settings)


def _print_next(screen: Screen, search: Search, settings: Path) -> None:
    """The command that most people want now: training, or where that needs labels, evaluating."""
    from adgcl.methods.base import METHODS

    source, method = search.request.source, METHODS[search.base.run.method.name]
    data, file = data_words(source), shlex.quote(str(settings))
    if method.needs_labels and not method.computed_labels:
        screen.say(f"Next: adgcl evaluate {' '.join(filter(None, (data, label_words(source))))} --config {file}")
    else:
        screen.say(f"Next: adgcl pretrain {data} --config {file} --out runs/tuned")


def _tested(screen: Screen, search: Search, best: Best, seeds: int, jobs: int | None) -> list[Record]:
    from adgcl.cli.job_progress import JobBars
    from adgcl.experiments.tuning.choice import final_scores

    with JobBars(screen) as watcher:
        return final_scores(search, best, seeds, jobs, watcher)


def _show_scores(screen: Screen, records: list[Record]) -> None:
    from adgcl.reports.record_tables import record_list

    if records:
        screen.show(record_list(records, every=True))
        for note in dict.fromkeys(note for record in records for note in record.notes):
            screen.say(note)
