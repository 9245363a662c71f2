"""`adgcl evaluate`: how good are the embeddings?"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adgcl.cli import options
from adgcl.cli.reading import Reading, reads_data
from adgcl.cli.requests import given, make_request, make_source
from adgcl.cli.screen import Screen
from adgcl.cli.typed import typed_command
from adgcl.core.errors import ConfigError
from adgcl.core.files import check_writable

if TYPE_CHECKING:
    from adgcl.experiments.evaluation import Judged
    from adgcl.experiments.planning import Request
    from adgcl.experiments.source import Source

_PROBES = {"linear": ["linear"], "svm": ["svm"], "both": ["linear", "svm"]}


@reads_data()
def evaluate(
    ctx: typer.Context,
    items: options.RunAndData,
    method: options.Method = None,
    seeds: options.Seeds = None,
    mode: options.Mode = None,
    probe: options.Probe = "linear",
    protocol: options.Protocol = None,
    beside: Annotated[
        bool,
        typer.Option(
            "--beside/--alone",
            help="Compare a finished run with an untrained encoder, fingerprints or statistics, and a constant guess.",
            rich_help_panel="Evaluation",
        ),
    ] = True,
    jobs: options.Jobs = None,
    work: options.Work = Path("runs"),
    fresh: options.Fresh = False,
    executor: options.Executor = "processes",
    executor_settings: options.ExecutorSettings = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder for Records.")] = Path("results"),
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
    """Evaluate a finished run, or train a method with several seeds and evaluate it.

    The result is shown beside the paper's figure, if there is one. If you stop
    with Ctrl-C, the same command resumes. Every result is kept as a Record
    (JSON) with everything needed to repeat it; `adgcl report` makes tables of
    them.

    \b
    Examples:
      adgcl evaluate runs/mine molecules.csv --label-column solubility
      adgcl evaluate MUTAG --method adgcl --seeds 10
      adgcl evaluate MUTAG --mode as_published --probe both --json
      adgcl evaluate PROTEINS --seeds 20 --executor slurm --executor-set time=30
    """
    screen, (run, data) = Screen(as_json, quiet), _run_and_data(items)
    with nullcontext() if run or executor != "processes" else _processes(jobs, seeds):
        source = make_source(data, **reading)
        training = {"epochs": epochs, "batch_size": batch_size, "device": device, "precision": precision}
        judging = {"probes": _probes(probe), **given(mode=mode, name=protocol)}
        request = make_request(method, config, assignments, judging, trackers=trackers, **training)
        command = typed_command(ctx)
        check_writable(out)
        if run is not None:
            judged = _judge_run(screen, run, source, request, seeds, beside, command)
        else:
            where = (work, jobs, fresh, executor, tuple(executor_settings or ()))
            judged = _judge_method(screen, source, request, seeds, where, command)
    _finish(screen, judged, out)


def _processes(jobs: int | None, seeds: int | None) -> AbstractContextManager[None]:
    """Start processes that train before anything else: like this one, they spend two seconds importing torch.

    One core is left to this process. With as many others as cores, all would wait for each other.
    """
    from adgcl.core.provenance import available_cores
    from adgcl.core.seeds import DEFAULT_SEEDS
    from adgcl.jobs.processes import started_early

    count = min(jobs or available_cores(), seeds or DEFAULT_SEEDS)
    if count < 2:
        return nullcontext()
    return started_early(min(count, max(available_cores() - 1, 1)), "adgcl.experiments.jobs", "adgcl.compiled.steps")


def _probes(probe: str) -> list[str]:
    if probe not in _PROBES:
        raise ConfigError(f"There is no probe called {probe!r}.", "Use linear, svm or both.")
    return _PROBES[probe]


def _run_and_data(items: list[str]) -> tuple[Path | None, str]:
    if len(items) > 2:
        raise ConfigError(f"Too many arguments: {' '.join(items)}.", "Give a run folder and data, or data alone.")
    if len(items) == 2:
        return Path(items[0]), items[1]
    if (Path(items[0]) / "checkpoint.safetensors").exists():
        raise ConfigError(
            f"{items[0]} is a run; there is no data to evaluate it on.", f"Use `adgcl evaluate {items[0]} DATA`."
        )
    return None, items[0]


def _judge_run(
    screen: Screen, run: Path, source: Source, request: Request, seeds: int | None, beside: bool, command: str
) -> Judged:
    from adgcl.cli.progress import Bars
    from adgcl.experiments.evaluation import evaluate_run

    training = dict(request.flags["training"])
    device = training.pop("device", "auto")
    if "name" in request.flags["protocol"]:
        raise ConfigError(
            "A finished run is evaluated by a probe on its vectors; --protocol is for training anew.",
            f"To fine-tune its encoder: `adgcl evaluate {source.data} --method supervised --protocol finetune "
            f"--set start_from={run}`.",
        )
    if request.method or training:
        hint = "Leave out --method, --epochs and the like, or leave out RUN."
        raise ConfigError("A finished run cannot be trained again.", hint)
    with Bars(screen) as bars:
        return evaluate_run(
            run,
            source,
            request,
            seeds,
            device=device,
            beside=beside,
            progress=bars,
            on_seed=bars.judged,
            command=command,
        )


def _judge_method(
    screen: Screen,
    source: Source,
    request: Request,
    seeds: int | None,
    work: tuple[Path, int | None, bool, str, tuple[str, ...]],
    command: str,
) -> Judged:
    from adgcl.cli.job_progress import JobBars
    from adgcl.cli.progress import Bars
    from adgcl.core.seeds import DEFAULT_SEEDS
    from adgcl.experiments.evaluation import Work, evaluate_loaded
    from adgcl.experiments.source import LoadedSource

    with Bars(screen) as bars:
        data = LoadedSource.of(source, bars)
    with JobBars(screen) as watcher:
        return evaluate_loaded(
            data, request, range(seeds or DEFAULT_SEEDS), Work(*work), watcher=watcher, command=command
        )


def _finish(screen: Screen, judged: Judged, out: Path) -> None:
    from adgcl.cli.bad_rows import show_bad_rows
    from adgcl.protocols.record_folder import keep
    from adgcl.reports.record_tables import record_list

    paths = [keep(record, out) for record in judged.records]
    show_bad_rows(screen, judged.dataset.bad_rows, len(judged.dataset) + len(judged.dataset.bad_rows))
    records: list[dict[str, Any]] = [record.to_json() for record in judged.records]
    screen.emit({"records": records, "files": [str(path) for path in paths], "reused_seeds": judged.reused})
    if judged.reused:
        seeds = len(judged.records[0].seeds)
        screen.say(f"{judged.reused} of {seeds} seeds were finished before and are reused (--fresh runs them again).")
    screen.show(record_list(judged.records))
    for note in dict.fromkeys(note for record in judged.records for note in record.notes):
        screen.warn(f"Note: {note}")
    screen.say("Kept as " + ", ".join(map(str, paths)) + f"\nNext: adgcl report {out} --out report.html")
