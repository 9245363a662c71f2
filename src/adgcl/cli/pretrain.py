"""`adgcl pretrain`: learn from graphs without labels."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adgcl.cli import options
from adgcl.cli.reading import Reading, reads_data
from adgcl.cli.requests import data_words, label_words, make_request, make_source
from adgcl.cli.screen import Screen
from adgcl.core.words import counted

if TYPE_CHECKING:
    from adgcl.data.dataset import Dataset
    from adgcl.experiments.planning import Request
    from adgcl.experiments.pretraining import Pretrained
    from adgcl.experiments.source import Source
    from adgcl.training.run_config import RunConfig


@reads_data(without=("task", "split"))
def pretrain(
    data: options.DataArgument,
    out: Annotated[Path, typer.Option("--out", "-o", help="The run folder to make.")],
    method: options.Method = None,
    preset: options.Preset = None,
    epochs: options.Epochs = None,
    batch_size: options.BatchSize = None,
    seed: Annotated[
        int | None, typer.Option("--seed", help="Decides every random number.", rich_help_panel="Settings")
    ] = None,
    device: options.Device = None,
    precision: options.Precision = None,
    start_from: options.StartFrom = None,
    config: options.ConfigFile = None,
    assignments: options.Assignments = None,
    trackers: options.Trackers = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the run in --out.")] = False,
    max_hours: Annotated[
        float | None, typer.Option("--max-hours", min=0.0, help="Save and stop after this time; --resume continues.")
    ] = None,
    *,
    reading: Reading,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Learn from graphs without labels; everything is kept in a run folder.

    Settings come from the preset of the method and the kind of data (or
    --preset), then --config, then flags, then --set. Ctrl-C saves; --resume
    continues. Several processes train together under torchrun.

    \b
    Examples:
      adgcl pretrain freesolv --out runs/freesolv --epochs 20
      adgcl pretrain molecules.csv --smiles-column smiles --out runs/mine
      adgcl pretrain MUTAG --out runs/mutag --set reg_lambda=1
      adgcl pretrain MUTAG --out runs/mutag --resume --epochs 300
      adgcl pretrain ZINC-250K --preset adgcl-transfer --out runs/zinc250k
      torchrun --nproc-per-node 2 -m adgcl pretrain ZINC-250K --out runs/zinc
    """
    from adgcl.parallel.world import joined

    screen = Screen(as_json, quiet)
    training: dict[str, Any] = {
        "epochs": epochs,
        "batch_size": batch_size,
        "seed": seed,
        "device": device,
        "precision": precision,
        "start_from": start_from,
        "trackers": trackers,
    }
    with joined() as world:
        source = make_source(data, **reading)
        request = replace(make_request(method, config, assignments, **training), preset=preset)
        limit = None if max_hours is None else max_hours * 3600
        done = _run(screen if world.leads else None, source, out, request, resume, limit)
    if not world.leads:
        return
    if done.remark:
        screen.warn(done.remark)
    screen.emit(_summary(done))
    _print_summary(screen, done)
    _print_next(screen, done, source)


def _run(
    screen: Screen | None, source: Source, out: Path, request: Request, resume: bool, limit: float | None
) -> Pretrained:
    """Train, and show how it goes unless there is no screen."""
    from adgcl.cli.bad_rows import show_bad_rows, show_mixtures, show_strangers
    from adgcl.cli.progress import Bars
    from adgcl.experiments import pretraining
    from adgcl.training.trackers import Adviser, ProgressBar, Tracker

    if screen is None:
        return pretraining.pretrain(source, out, request, resume=resume, max_seconds=limit)

    def announce(dataset: Dataset, run: RunConfig) -> None:
        bad_rows = dataset.bad_rows
        show_bad_rows(screen, bad_rows, len(dataset) + len(bad_rows), out / pretraining.BAD_ROWS_FILE)
        show_mixtures(screen, dataset, run.data.keep_largest_fragment)
        show_strangers(screen, dataset)

    with Bars(screen) as bars:
        trackers: list[Tracker] = [ProgressBar("pretrain", screen.live, screen.aside), Adviser(screen.warn)]
        return pretraining.pretrain(
            source,
            out,
            request,
            resume=resume,
            trackers=trackers,
            progress=bars,
            on_loaded=announce,
            max_seconds=limit,
        )


def _summary(done: Pretrained) -> dict[str, Any]:
    return {
        "run": str(done.folder),
        "method": done.run.method.name,
        "dataset": done.dataset.name,
        "graphs": len(done.dataset),
        "unreadable": len(done.dataset.bad_rows),
        "epochs": done.run.training.epochs,
        "finished_before": done.finished_before,
        "resumed_after_epoch": done.started_at,
        "step": done.step,
        "metrics": done.metrics,
        "seconds": round(done.seconds, 2),
    }


def _print_summary(screen: Screen, done: Pretrained) -> None:
    from adgcl.methods.base import METHODS
    from adgcl.reports.numbers import seconds_label

    title = METHODS[done.run.method.name].title
    if done.finished_before:
        trained = f"{title}, {counted(done.started_at, 'epoch')}"
        screen.show(f"{done.folder} is already finished: {trained}. There was nothing left.")
    else:
        after = f" from epoch {done.started_at + 1} on" if done.started_at else ""
        epochs = f"{counted(done.run.training.epochs, 'epoch')}{after}, " if done.run.training.epochs else ""
        screen.show(
            f"{title} on {done.dataset.name}: {len(done.dataset):,} graphs, {epochs}{seconds_label(done.seconds)}."
        )
    if done.remark:
        screen.show(done.remark)
    kept = METHODS[done.run.method.name].kept(done.run.method)
    numbers = [f"{name.replace('_', ' ')} {done.metrics[name]:.3f}" for name in kept if name in done.metrics]
    screen.show(f"Run folder: {done.folder}" + (f"   last epoch: {', '.join(numbers)}" if numbers else ""))


def _print_next(screen: Screen, done: Pretrained, source: Source) -> None:
    """The two commands that most people want now, with the columns they named."""
    from adgcl.methods.base import METHODS

    data, labels = data_words(source), label_words(source)
    screen.say(f"\nNext:\n  adgcl embed {done.folder} {data} --out embeddings.parquet")
    method = METHODS[done.run.method.name]
    if method.needs_labels and not method.computed_labels:
        # Evaluated on the graphs it learned from, it would only show how well it remembers them.
        screen.say(f"  adgcl evaluate {data} {labels} --method {done.run.method.name}    (trains again for every fold)")
    elif done.dataset.task.kind == "none":
        screen.say(f"  adgcl evaluate {done.folder} {data} --label-column NAME    (once you have labels)")
    else:
        screen.say(f"  adgcl evaluate {done.folder} {data} {labels}".rstrip())
