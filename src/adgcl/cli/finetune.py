"""`adgcl finetune`: a trained encoder learns your labels."""

from __future__ import annotations

import shlex
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adgcl.cli import options
from adgcl.cli.reading import Reading, reads_data
from adgcl.cli.requests import make_request, make_source
from adgcl.cli.screen import Screen, table
from adgcl.core.words import counted

if TYPE_CHECKING:
    from adgcl.data.dataset import Dataset
    from adgcl.experiments.evaluation import Work
    from adgcl.experiments.finetuning import Finetuned
    from adgcl.experiments.model.members import Choices
    from adgcl.experiments.planning import Request
    from adgcl.experiments.source import Source
    from adgcl.training.run_config import RunConfig

_MODEL = "Model"
_PERCENT = ("rocauc", "accuracy")


@reads_data()
def finetune(
    encoder: Annotated[
        str,
        typer.Argument(
            metavar="ENCODER", help="A run folder, a checkpoint, a packaged encoder, or `none` to start from scratch."
        ),
    ],
    data: options.DataArgument,
    out: Annotated[Path, typer.Option("--out", "-o", help="The model folder to make.")],
    seeds: Annotated[
        int | None,
        typer.Option("--seeds", min=1, help="Members that differ in seed. Default: 3.", rich_help_panel=_MODEL),
    ] = None,
    folds: Annotated[
        int | None,
        typer.Option("--folds", min=2, help="Train one member per fold instead.", rich_help_panel=_MODEL),
    ] = None,
    unit: Annotated[
        str, typer.Option("--unit", help="The unit of the labels, kept with the model.", rich_help_panel=_MODEL)
    ] = "",
    epochs: options.Epochs = None,
    batch_size: options.BatchSize = None,
    device: options.Device = None,
    precision: options.Precision = None,
    config: options.ConfigFile = None,
    assignments: options.Assignments = None,
    trackers: options.Trackers = None,
    jobs: options.Processes = None,
    executor: Annotated[
        str | None,
        typer.Option(
            "--executor",
            metavar="NAME",
            help="Train members at a time: processes, ray or slurm. Default: one after another.",
            rich_help_panel="Where it runs",
        ),
    ] = None,
    executor_settings: options.ExecutorSettings = None,
    *,
    reading: Reading,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Fine-tune an encoder on labelled data; the result is a model that predicts.

    The kind of labels is detected: yes or no, classes, or numbers. Several
    columns are several tasks, and empty fields are missing labels. Several
    networks are trained and kept as one model. Part of the data is held out: it
    chooses the best epoch, calibrates predictions, and tests them. By default
    the data's own split is used, or else scaffolds.

    Ctrl-C saves; the same command resumes.

    \b
    Examples:
      adgcl finetune runs/zinc assay.csv --label-column active --out models/assay
      adgcl finetune none freesolv --epochs 50 --unit kcal/mol --out model
      adgcl finetune runs/zinc assay.csv --label-column pIC50 --folds 5 --out cv
      adgcl finetune runs/zinc assay.csv --folds 5 --executor ray --out cv
    """
    from adgcl.experiments.model.members import Choices

    screen = Screen(as_json, quiet)
    source = make_source(data, **reading)
    training: dict[str, Any] = {"epochs": epochs, "batch_size": batch_size, "device": device, "precision": precision}
    request = make_request(None, config, assignments, trackers=trackers, **training)
    work = None
    if executor or jobs:
        from adgcl.experiments.evaluation import Work

        work = Work(None, jobs, False, executor or "processes", tuple(executor_settings or ()))
    done = _run(screen, encoder, source, out, request, Choices(seeds, folds, unit), work)
    screen.emit(_summary(done))
    _print_summary(screen, done)
    _print_next(screen, done, source)


def _run(
    screen: Screen, encoder: str, source: Source, out: Path, request: Request, choices: Choices, work: Work | None
) -> Finetuned:
    from adgcl.cli.bad_rows import show_bad_rows, show_mixtures, show_strangers
    from adgcl.cli.job_progress import JobBars
    from adgcl.cli.progress import Bars
    from adgcl.experiments import finetuning
    from adgcl.training.trackers import ProgressBar

    def announce(dataset: Dataset, run: RunConfig, warnings: list[str]) -> None:
        bad_rows = dataset.bad_rows
        show_bad_rows(screen, bad_rows, len(dataset) + len(bad_rows), out / finetuning.BAD_ROWS_FILE)
        show_mixtures(screen, dataset, run.data.keep_largest_fragment)
        show_strangers(screen, dataset)
        for warning in warnings:
            screen.warn(warning)

    job_bars = JobBars(screen) if work else None
    with Bars(screen) as bars, job_bars or nullcontext():
        trackers = [ProgressBar("finetune", screen.live, screen.aside)]
        return finetuning.finetune(
            encoder,
            source,
            out,
            request,
            choices,
            trackers=trackers,
            progress=bars,
            on_loaded=announce,
            work=work,
            watcher=job_bars,
        )


def _summary(done: Finetuned) -> dict[str, Any]:
    names = ("task", "labels", "classes", "unit", "metric", "split", "started_from", "members", "together")
    return {
        "model": str(done.folder),
        "dataset": done.dataset.name,
        "graphs": len(done.dataset),
        "unlabelled": _unlabelled(done),
        "unreadable": len(done.dataset.bad_rows),
        "finished_before": done.finished_before,
        **{name: done.about[name] for name in names},
        "checked": done.about["calibration"]["checked"],
        "seconds": round(done.seconds, 2),
    }


def _print_summary(screen: Screen, done: Finetuned) -> None:
    from adgcl.reports.numbers import seconds_label

    about = done.about
    if done.finished_before:
        screen.show(f"{done.folder} is already finished. There was nothing left to do.")
    else:
        screen.show(
            f"Fine-tuned on {done.dataset.name}: {_how_many(done)}, {_what(about)}, "
            f"{counted(len(about['members']), 'member')}, split: {about['split']}, {seconds_label(done.seconds)}."
        )
    rows: list[tuple[object, ...]] = [
        (one["name"], one["epoch"], _score(about, one["valid"]), _score(about, one["test"])) for one in about["members"]
    ]
    rows.append(("together", "", _score(about, about["together"]["valid"]), _score(about, about["together"]["test"])))
    metric = {"rocauc": "ROC-AUC, %", "accuracy": "accuracy, %"}.get(about["metric"], about["metric"].upper())
    numbers = ("epoch", "validation", "test")
    screen.show(table(("", *numbers), rows, title=f"{metric} on held-out graphs", right=numbers))
    for line in checks(about):
        screen.show(line)


def _unlabelled(done: Finetuned) -> int:
    """How many graphs have no label at all."""
    import numpy as np

    labels = done.dataset.store.y
    return 0 if labels is None else int(np.isnan(labels).all(axis=1).sum())


def _how_many(done: Finetuned) -> str:
    missing = _unlabelled(done)
    return f"{len(done.dataset):,} graphs" + (f" ({missing:,} of them without a label)" if missing else "")


def _what(about: dict[str, Any]) -> str:
    kinds = {"regression": "values", "binary": "yes or no", "multiclass": f"{len(about['classes'])} classes"}
    tasks = len(about["labels"])
    return kinds[about["task"]["kind"]] + (f", {tasks} tasks" if tasks > 1 else "")


def _score(about: dict[str, Any], value: float | None) -> str:
    if value is None:
        return "undefined"
    return f"{100 * value:.1f}" if about["metric"] in _PERCENT else f"{value:.3f}"


def checks(about: dict[str, Any]) -> list[str]:
    """How well the uncertainties held up on test data, in words."""
    checked = about["calibration"]["checked"]
    if isinstance(checked, dict):
        before, after = checked["brier_before"], checked["brier_after"]
        how = "by the other folds" if about["split"].endswith("folds") else "on validation data"
        return [f"Brier score on test data: {before:.4f}, calibrated {how} {after:.4f} (low is good)."]
    lines = []
    for name, one in zip(about["labels"], checked):
        if one["coverage"] is None:
            lines.append(f"No 90 % bands for {name}: too few labels were held out to promise that much.")
        else:
            lines.append(
                f"The 90 % bands for {name} contain {100 * one['coverage']:.0f} % of {one['labels']} test labels; "
                f"they are {one['mean_width']:.3g} {about['unit']}".rstrip()
                + " wide on average."
            )
    return lines


def _print_next(screen: Screen, done: Finetuned, source: Source) -> None:
    named = {"--smiles-column": source.smiles_column, "--id-column": source.id_column, "--sheet": source.sheet}
    words = [word for name, value in named.items() if value for word in (name, value)]
    model = shlex.quote(str(done.folder))
    screen.say(f"\nNext:\n  adgcl predict {model} {shlex.join(['NEW.csv', *words])} --out predictions.csv")
