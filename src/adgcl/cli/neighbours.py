"""`adgcl neighbours`: the most similar graphs by embedding, beside those by structure."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from adgcl.cli import options
from adgcl.cli.reading import Reading, reads_data
from adgcl.cli.requests import make_source
from adgcl.cli.screen import Screen, table

_SHOWN = 5


@reads_data(without=("split",))
def neighbours(
    run: options.EncoderArgument,
    data: options.DataArgument,
    query: Annotated[
        str | None, typer.Argument(metavar="[QUERY]", help="Graphs to look up. Default: each graph of DATA.")
    ] = None,
    out: Annotated[
        list[Path] | None,
        typer.Option("--out", "-o", help="A page (.html) or table (.parquet, .csv); may be repeated."),
    ] = None,
    k: Annotated[int, typer.Option("--k", "-k", min=1, max=1000, help="How many neighbours.")] = 10,
    index: Annotated[
        str, typer.Option("--index", help="auto, exact, or approximate (needs the extra 'search').")
    ] = "auto",
    most: Annotated[int, typer.Option("--most", min=1, help="Of more queries than this, a sample is used.")] = 2_000,
    device: Annotated[str, typer.Option("--device", help="auto, cpu, cuda, cuda:1 or mps.")] = "auto",
    *,
    reading: Reading,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Find the graphs most alike, by embedding and by structure.

    By embedding: the cosine of standardised vectors. By structure: Tanimoto
    similarity of ECFP fingerprints, or graph statistics where there are no
    SMILES. The options for reading data apply to QUERY too.

    \b
    Examples:
      adgcl neighbours runs/quickstart freesolv --out neighbours.html
      adgcl neighbours runs/mine my.csv new.csv -k 5 --out near.csv
    """
    from adgcl.cli.bad_rows import show_bad_rows
    from adgcl.cli.pages import check_outputs, write_outputs
    from adgcl.cli.progress import Bars
    from adgcl.insight.neighbours import find_neighbours
    from adgcl.insight.tables import neighbour_columns
    from adgcl.pages.neighbours_page import neighbours_page

    screen = Screen(as_json, quiet)
    check_outputs(out or [], data, query)
    source = make_source(data, **reading)
    asked = None if query is None else replace(source, data=query)
    with Bars(screen) as bars:
        made = find_neighbours(
            run,
            source,
            asked,
            count=k,
            index=index,  # type: ignore[arg-type]
            most=most,
            device=device,
            progress=bars,
        )
        page = lambda: neighbours_page(made, lambda done, total: bars("draw", done, total))  # noqa: E731
        write_outputs(out or [], page, lambda: neighbour_columns(made))
    show_bad_rows(screen, made.queries.bad_rows, len(made.queries) + len(made.queries.bad_rows))
    name, theirs = made.dataset.store.id_of, made.queries.store.id_of
    shown = range(len(made.queries) if as_json else min(_SHOWN, len(made.queries)))
    rows = [(theirs(i), name(int(made.learned[0][i, 0])), name(int(made.known[0][i, 0]))) for i in shown]
    screen.emit(
        {
            "out": [str(path) for path in out or []],
            "queries": len(made.queries),
            "graphs": len(made.dataset),
            "measure": made.measure,
            "shared": float(made.shared.mean()),
            "labels": made.likeness(),
            "nearest": [dict(zip(("query", "by_embedding", "by_structure"), row)) for row in rows],
        }
    )
    screen.show(table(("query", "nearest by embedding", f"nearest by {made.measure}"), rows))
    more = f" of {len(made.queries):,}; --out writes all" if len(made.queries) > _SHOWN and not out else ""
    written = f"Wrote {', '.join(map(str, out))}. " if out else ""
    screen.show(f"{written}{100 * made.shared.mean():.0f}% of neighbours by embedding are near by structure{more}.")
