"""`adgcl quickstart`: from nothing to an evaluated embedding."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adgcl.cli import options
from adgcl.cli.screen import Screen
from adgcl.cli.typed import typed_command

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adgcl.core.records import Record
    from adgcl.experiments.quickstart import Quickstart
    from adgcl.reports.table import Table


def quickstart(
    ctx: typer.Context,
    out: Annotated[Path, typer.Option("--out", "-o", help="The run folder to create.")] = Path("runs/quickstart"),
    epochs: options.Epochs = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Train AD-GCL on 642 built-in molecules and evaluate it, in about two minutes.

    The molecules are FreeSolv (hydration free energies); nothing is downloaded.
    The table compares AD-GCL with an untrained encoder, fingerprints and the
    paper's own figure. A second run reuses finished work.

    \b
    Example:
      adgcl quickstart
    """
    screen = Screen(as_json, quiet)
    screen.aside("Getting ready ...")
    from adgcl.cli.job_progress import JobBars
    from adgcl.experiments import quickstart as job

    command = typed_command(ctx)
    with JobBars(screen) as bars:
        done = job.quickstart(
            out,
            epochs=job.EPOCHS if epochs is None else epochs,
            on_stage=lambda text: bars.tell(f"Evaluating {text} ..."),
            watcher=bars,
            command=command,
        )
    screen.emit({"run": str(out), "records": [r.to_json() for r in done.records], "reused_seeds": done.reused})
    _print_result(screen, done)


def _print_result(screen: Screen, done: Quickstart) -> None:
    from adgcl.reports.numbers import metric_label

    if done.reused:
        screen.say(
            f"{done.reused} of {len(done.records[-1].seeds)} seeds of AD-GCL were already finished and are reused."
        )
    first = done.records[0]
    metric = metric_label(first.metric, first.higher_is_better)
    screen.show(
        f"\n{metric} of predicted hydration free energies (kcal/mol) of\nFreeSolv's test molecules; lower is better."
    )
    screen.show(result_table(done.records))
    screen.say(
        "Each embedding is frozen and scored by ridge regression on OGB's scaffold\nsplit. The paper trains longer."
    )
    screen.say(f"\nYour first run is in {done.folder}. What to do with it:")
    advice = (
        (f"adgcl embed {done.folder} freesolv --out freesolv.parquet", "one vector per molecule"),
        (f"adgcl evaluate {done.folder} freesolv", "evaluate it in strict mode"),
        (f"adgcl explain {done.folder} freesolv --out explain.html", "what its augmenter drops"),
        (f"adgcl map {done.folder} freesolv --out map.html", "which molecules lie together"),
        (f"adgcl report {done.folder} --out report.html", "a page to send"),
        ("adgcl pretrain my.csv --smiles-column smiles --out runs/mine", "the same with your own molecules"),
    )
    for line, meaning in advice:
        screen.say(f"  {meaning}:\n    {line}")


def result_table(records: Sequence[Record]) -> Table:
    """One row per embedding, next to the paper's figure."""
    from adgcl.reports.numbers import published, result, seconds_label
    from adgcl.reports.table import Table

    names = {"random_init": "untrained GIN", "ecfp": "ECFP fingerprint", "adgcl": "AD-GCL"}
    rows = [
        (
            names.get(record.method, record.method),
            result(record),
            str(len(record.seeds)),
            published(record),
            seconds_label(record.seconds / len(record.seeds)),
        )
        for record in records
    ]
    columns = ("embedding", "this run", "seeds", "the paper", "time per seed")
    return Table.of(columns, rows, numbers=columns[1:])
