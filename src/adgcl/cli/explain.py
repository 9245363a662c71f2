"""`adgcl explain`: which edges an augmenter drops, or which bonds matter for a prediction."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adgcl.cli import options
from adgcl.cli.reading import Reading, reads_data
from adgcl.cli.requests import make_source
from adgcl.cli.screen import Screen

if TYPE_CHECKING:
    from adgcl.insight.explanation import Explanation
    from adgcl.reports.table import Table

_GROUPS = ("bond", "edge", "ring", "degree", "heteroatom")


@reads_data(without=("label_columns", "task", "split"))
def explain(
    run: Annotated[
        str, typer.Argument(metavar="RUN", help="A run of `adgcl pretrain`, or a model of `adgcl finetune`.")
    ],
    data: options.DataArgument,
    out: Annotated[
        list[Path], typer.Option("--out", "-o", help="A page (.html) or table (.parquet, .csv); may be repeated.")
    ],
    show: Annotated[int, typer.Option("--show", min=1, help="How many graphs the page draws.")] = 24,
    graph: Annotated[
        list[str] | None, typer.Option("--graph", help="Draw this graph, by its id; may be repeated.")
    ] = None,
    seed_run: Annotated[
        list[Path] | None,
        typer.Option(
            "--seed-run", help="The same run with another seed; may be repeated. Default: those found in RUN."
        ),
    ] = None,
    augmenter: Annotated[
        Path | None, typer.Option("--augmenter", metavar="RUN", help="Show this run's augmenter beside a model.")
    ] = None,
    label: Annotated[
        str | None, typer.Option("--label", help="The model's label to explain. Default: the first.")
    ] = None,
    device: Annotated[str, typer.Option("--device", help="auto, cpu, cuda, cuda:1 or mps.")] = "auto",
    *,
    reading: Reading,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Show which edges an augmenter drops, or which bonds matter.

    For a run of AD-GCL: the drop probability of every edge, drawn on the graph,
    beside the same augmenter untrained and dropping at random, and how often
    seeds order the edges of a graph alike (50% is chance). For a fine-tuned
    model: how the prediction changes if one bond is taken away.

    \b
    Examples:
      adgcl explain runs/quickstart freesolv --out page.html
      adgcl explain runs/mine my.csv --out page.html --out bonds.parquet
      adgcl explain model my.csv --augmenter runs/mine --out page.html
    """
    from adgcl.cli.bad_rows import show_bad_rows
    from adgcl.cli.pages import check_outputs, find_graphs, write_outputs
    from adgcl.cli.progress import Bars
    from adgcl.insight.explanation import explain_data
    from adgcl.insight.tables import bond_columns

    screen = Screen(as_json, quiet)
    check_outputs(out, data)
    source = make_source(data, **reading)
    with Bars(screen) as bars:
        made = explain_data(run, source, seeds=seed_run, augmenter=augmenter, label=label, device=device, progress=bars)
        chosen = find_graphs(made.dataset, graph)

        def page() -> str:
            from adgcl.pages.explain_page import explain_page

            return explain_page(made, graphs=chosen, shown=show)

        write_outputs(out, page, lambda: bond_columns(made))
    show_bad_rows(screen, made.dataset.bad_rows, len(made.dataset) + len(made.dataset.bad_rows))
    screen.emit(_as_json(made, out))
    screen.show(_summary(made))
    if warning := _warning(made):
        screen.say(warning)
    screen.show(f"Wrote {', '.join(map(str, out))}: {len(made.bonds):,} edges of {len(made.dataset):,} graphs.")
    screen.say(f"Where do these graphs lie? adgcl map {run} {data} --out map.html")


def _summary(made: Explanation) -> Table:
    """The means over kinds of edges, in the terminal."""
    from adgcl.reports.table import Column, Table

    names = [name for name in made.groups[0].drop if name != "uniform"] if made.groups else []
    rows = [
        [group.trait, group.value, f"{group.count:,}", *(f"{group.drop[name]:.3f}" for name in names)]
        for group in made.groups
        if group.trait in _GROUPS
    ]
    columns = (Column("kind", "group"), Column("value", "name"), *(Column(n, "number") for n in ("edges", *names)))
    return Table.of(columns, rows)


def _warning(made: Explanation) -> str:
    from adgcl.pages.explain_words import Words

    return Words(made).warning


def _as_json(made: Explanation, out: list[Path]) -> dict[str, Any]:
    return {
        "out": [str(path) for path in out],
        "graphs": len(made.dataset),
        "edges": len(made.bonds),
        "mean_drop": {name: float(drop.mean()) for name, drop in made.drop.items()},
        "agreement": made.agreement,
        "groups": [
            {"kind": group.trait, "value": group.value, "edges": group.count, **group.drop} for group in made.groups
        ],
        "about": made.about,
    }
