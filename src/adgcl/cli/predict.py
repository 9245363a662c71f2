"""`adgcl predict`: a value or probability for every molecule, and how far to trust it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adgcl.cli import options
from adgcl.cli.reading import Reading, reads_data
from adgcl.cli.requests import make_source
from adgcl.cli.screen import Screen

if TYPE_CHECKING:
    from adgcl.experiments.prediction import Predicted


@reads_data(without=("label_columns", "task", "split"))
def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="The folder that `adgcl finetune --out` made.")],
    data: options.DataArgument,
    out: Annotated[Path, typer.Option("--out", "-o", help="The file to write: .csv or .parquet.")],
    coverage: Annotated[
        float | None,
        typer.Option("--coverage", help="The share of true values that regression bands should contain. Default: 0.9."),
    ] = None,
    device: Annotated[str, typer.Option("--device", help="auto, cpu, cuda, cuda:1 or mps.")] = "auto",
    *,
    reading: Reading,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Predict one row per input row, in input order.

    For numbers there is a value, the members' spread (`_std`), and a band
    (`_low`, `_high`) that contains the true value in 9 of 10 cases; it is empty
    where too few labels were held out to promise that. For classes there are
    calibrated probabilities and the spread. `distance` says how far a molecule
    is from the training molecules: above 1 it is unlike them and `in_domain` is
    false. A row that cannot be read keeps its place, and `problem` says why.

    \b
    Examples:
      adgcl predict models/assay new.csv --out predictions.csv
      adgcl predict models/logd new.smi --coverage 0.95 --out predictions.parquet
    """
    from adgcl.cli.bad_rows import show_bad_rows, show_mixtures
    from adgcl.cli.progress import Bars
    from adgcl.core.files import refuse_input
    from adgcl.core.locks import locked_file
    from adgcl.experiments.prediction import predict_data
    from adgcl.experiments.prediction_table import check_target, write_predictions

    screen = Screen(as_json, quiet)
    check_target(out)
    refuse_input(out, data)
    source = make_source(data, **reading)
    with locked_file(out), Bars(screen) as bars:
        made = predict_data(model, source, coverage=coverage, device=device, progress=bars, on_predicted=bars.predicted)
        write_predictions(out, made)
    show_bad_rows(screen, made.dataset.bad_rows, len(made.ids))
    show_mixtures(screen, made.dataset, source.following(made.model.config.data).keep_largest_fragment)
    if str(made.strangers):
        screen.warn(f"{made.strangers}.")
    if made.unbanded:
        screen.warn(
            f"No bands for {', '.join(made.unbanded)}: too few labels were held out to promise "
            f"{100 * made.coverage:g} %. A smaller --coverage, or more labels, would give some."
        )
    screen.emit(_summary(made, out))
    screen.show(_line(made, out))


def _summary(made: Predicted, out: Path) -> dict[str, Any]:
    regression = made.model.task.kind == "regression"
    return {
        "out": str(out),
        "rows": len(made.ids),
        "columns": ["id", *made.columns],
        "unreadable": len(made.dataset.bad_rows),
        "outside_domain": made.outside,
        **made.strangers.counts(),
        "mixtures": made.dataset.mixtures,
        "model": str(made.model.path),
        "unit": made.model.about["unit"],
        **({"coverage": made.coverage, "without_bands": made.unbanded} if regression else {}),
    }


def _line(made: Predicted, out: Path) -> str:
    unreadable = len(made.dataset.bad_rows)
    parts = [f"{unreadable} of them unreadable"] if unreadable else []
    parts += [f"{made.outside} unlike the training molecules (in_domain is false)"] if made.outside else []
    return ", ".join([f"Wrote {out}: {len(made.ids):,} rows", *parts]) + "."
