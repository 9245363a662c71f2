"""`adgcl embed`: one vector per graph."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from adgcl.cli import options
from adgcl.cli.reading import Reading, reads_data
from adgcl.cli.requests import make_source
from adgcl.cli.screen import Screen


@reads_data(without=("label_columns", "task", "split"))
def embed(
    run: options.RunArgument,
    data: options.DataArgument,
    out: Annotated[Path, typer.Option("--out", "-o", help="The file to write: .parquet, .csv or .npy.")],
    device: Annotated[str, typer.Option("--device", help="auto, cpu, cuda, cuda:1 or mps.")] = "auto",
    *,
    reading: Reading,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Write one vector per input row, in input order.

    The table has the column `id`, then `e0`, `e1` and so on. The data may be
    new to the run, but must have the same kind of features. A row that cannot
    be read keeps its place, filled with NaN.

    \b
    Examples:
      adgcl embed runs/freesolv freesolv --out freesolv.parquet
      adgcl embed runs/mine new_molecules.csv --id-column name --out new.csv
    """
    from adgcl.cli.bad_rows import show_bad_rows, show_mixtures, show_strangers
    from adgcl.cli.progress import Bars
    from adgcl.core.files import refuse_input
    from adgcl.core.locks import locked_file
    from adgcl.experiments.application import embed_data
    from adgcl.training.export import check_target, write_embeddings

    screen = Screen(as_json, quiet)
    check_target(out)
    refuse_input(out, data, run)
    source = make_source(data, **reading)
    with locked_file(out), Bars(screen) as bars:
        made = embed_data(run, source, device=device, progress=bars, on_embedded=bars.embedded)
        write_embeddings(out, made.ids, made.matrix)
    rows, width = made.matrix.shape
    show_bad_rows(screen, made.dataset.bad_rows, rows)
    show_mixtures(screen, made.dataset, source.following(made.run.config.data).keep_largest_fragment)
    strangers = show_strangers(screen, made.dataset)
    unreadable = len(made.dataset.bad_rows)
    screen.emit(
        {
            "out": str(out),
            "rows": rows,
            "columns": width,
            "unreadable": unreadable,
            **strangers.counts(),
            "mixtures": made.dataset.mixtures,
            "run": str(run),
            "dataset": made.dataset.name,
        }
    )
    note = f", {unreadable} of them unreadable (NaN)" if unreadable else ""
    screen.show(f"Wrote {out}: {rows:,} rows{note}, {width} numbers each.")
