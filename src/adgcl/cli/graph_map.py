"""`adgcl map`: a two-dimensional map of the embeddings, as a page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from adgcl.cli import options
from adgcl.cli.reading import Reading, reads_data
from adgcl.cli.requests import make_source
from adgcl.cli.screen import Screen


@reads_data()
def graph_map(
    run: options.EncoderArgument,
    data: options.DataArgument,
    out: Annotated[
        list[Path], typer.Option("--out", "-o", help="A page (.html) or table (.parquet, .csv); may be repeated.")
    ],
    projection: Annotated[
        str, typer.Option("--projection", help="auto, pca, tsne or umap; the page has PCA too.")
    ] = "auto",
    colour: Annotated[
        str | None,
        typer.Option("--colour", help="What to colour by first: a label, cluster, nodes or split."),
    ] = None,
    clusters: Annotated[int, typer.Option("--clusters", min=1, max=50, help="How many clusters to look for.")] = 8,
    most: Annotated[int, typer.Option("--most", min=2, help="Of more graphs than this, a sample is shown.")] = 20_000,
    device: Annotated[str, typer.Option("--device", help="auto, cpu, cuda, cuda:1 or mps.")] = "auto",
    *,
    reading: Reading,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Lay graphs out on a map: those that lie together look alike.

    One file that opens from disk. Point at a graph to see it; colour by label,
    size, cluster or split. Without umap-learn (the extra "map") or for
    up to 5,000 graphs the layout is t-SNE.

    \b
    Examples:
      adgcl map runs/quickstart freesolv --out map.html
      adgcl map runs/mine my.csv --label-column active --out map.html
      adgcl map runs/mine my.csv --projection umap --out map.parquet
    """
    from adgcl.cli.bad_rows import show_bad_rows
    from adgcl.cli.pages import check_outputs, write_outputs
    from adgcl.cli.progress import Bars
    from adgcl.insight.graph_map import check_colour, map_data
    from adgcl.insight.tables import map_columns
    from adgcl.pages.map_page import map_page

    screen = Screen(as_json, quiet)
    check_outputs(out, data)
    source = make_source(data, **reading)
    with Bars(screen) as bars:
        made = map_data(
            run,
            source,
            projection=projection,  # type: ignore[arg-type]
            clusters=clusters,
            most=most,
            device=device,
            progress=bars,
        )
        check_colour(made, colour)
        page = lambda: map_page(made, colour, lambda done, total: bars("draw", done, total))  # noqa: E731
        write_outputs(out, page, lambda: map_columns(made))
    left = made.vectors.left_out
    show_bad_rows(screen, made.dataset.bad_rows, len(made.dataset) + left + len(made.dataset.bad_rows))
    screen.emit(
        {
            "out": [str(path) for path in out],
            "graphs": len(made.dataset),
            "left_out": left,
            "layouts": list(made.planes),
            "clusters": len(made.centres),
            "run": str(run),
        }
    )
    note = f" ({left:,} more were left out at random; --most changes that)" if left else ""
    screen.show(f"Wrote {', '.join(map(str, out))}: {len(made.dataset):,} graphs{note}, {next(iter(made.planes))}.")
    screen.say(f"Which graphs are alike? adgcl neighbours {run} {data} --out neighbours.html")
