"""`adgcl data`: list data sets, show what is in them, and download them."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adgcl.cli import options
from adgcl.cli.reading import Reading, reads_data
from adgcl.cli.requests import make_source
from adgcl.cli.screen import Screen, table
from adgcl.core.errors import ConfigError

if TYPE_CHECKING:
    from adgcl.data.agreement import Figure
    from adgcl.data.dataset import Dataset
    from adgcl.data.entry import Entry
    from adgcl.protocols.lookalikes import Lookalikes

app = typer.Typer(
    help="List data sets, show one, download one, or describe molecules.\n\n\b\nExample:\n  adgcl data list",
    no_args_is_help=True,
    rich_markup_mode="rich",
)
_NAMES = {
    "graphs": "graphs",
    "avg_nodes": "nodes per graph",
    "avg_edges": "edges per graph (undirected)",
    "avg_directed_edges": "edges per graph (both directions)",
    "classes_or_tasks": "classes or tasks",
}


@app.command("list")
def list_all(data_dir: options.DataDir = None, as_json: options.Json = False) -> None:
    """List every known data set: the paper's and a few more.

    \b
    Examples:
      adgcl data list
      adgcl data list --json
    """
    from adgcl.data.catalog import all_entries
    from adgcl.data.fetch.folder import data_folder

    screen, folder = Screen(as_json), data_folder(data_dir)
    rows = [_listed(entry, folder) for entry in all_entries()]
    screen.emit({"data_dir": str(folder), "datasets": rows})
    columns = ("name", "what it is", "graphs", "task", "metric", "licence", "here")
    cells = [
        (r["name"], r["title"], _count(r["graphs"]), r["task"], r["metric"], r["licence"], "yes" if r["here"] else "no")
        for r in rows
    ]
    screen.show(table(columns, cells, right=("graphs",)))
    here = sum(row["here"] for row in rows)
    screen.say(f"{here} of {len(rows)} are on this machine (data folder: {folder}). `graphs` is the paper's count.")
    screen.say("`adgcl data info NAME` shows one; `adgcl data prepare NAME` downloads one.")


@app.command("info")
@reads_data(without=("split", "keep_largest_fragment"))
def info(
    data: options.DataArgument,
    *,
    reading: Reading,
    as_json: options.Json = False,
) -> None:
    """Count what is in a data set and compare with the paper's figures.

    Also says which graphs the 1-WL test, and so any encoder that passes
    messages, cannot tell apart, and the best score that this leaves.

    \b
    Examples:
      adgcl data info MUTAG
      adgcl data info molecules.csv --json
    """
    from adgcl.cli.bad_rows import show_bad_rows, show_mixtures
    from adgcl.cli.progress import Bars
    from adgcl.data.agreement import compare
    from adgcl.data.statistics import count
    from adgcl.protocols.lookalikes import find_lookalikes
    from adgcl.published import statistics

    screen = Screen(as_json)
    source = make_source(data, **reading)
    with Bars(screen) as bars:
        dataset = source.load(progress=bars)
        counted = count(dataset.store)
        lookalikes = find_lookalikes(dataset, bars)
    published = statistics(dataset.origin.paper_name or dataset.name)
    figures = compare(dataset, counted, published)
    screen.emit(
        {
            "name": dataset.name,
            "origin": asdict(dataset.origin),
            "task": dataset.task.to_json(),
            "features": dataset.store.spec.to_json(),
            "split": {part: len(ids) for part, ids in dataset.split.items()} if dataset.split else None,
            "unreadable": len(dataset.bad_rows),
            "mixtures": dataset.mixtures,
            "counted": asdict(counted),
            "published": asdict(published) if published else None,
            "agrees": all(f.agrees for f in figures if f.agrees is not None) if published else None,
            "figures": [asdict(figure) for figure in figures],
            "lookalikes": [found.to_json() for found in lookalikes],
        }
    )
    _print_info(screen, dataset, figures)
    _print_lookalikes(screen, dataset, lookalikes)
    show_bad_rows(screen, dataset.bad_rows, len(dataset) + len(dataset.bad_rows))
    show_mixtures(screen, dataset)


@app.command("prepare")
def prepare(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name from `adgcl data list`.")],
    data_dir: options.DataDir = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Download a data set from its public source, unless it is here already, and pack it.

    \b
    Example:
      adgcl data prepare MUTAG
    """
    from adgcl.cli.progress import Bars
    from adgcl.data.catalog import find_entry
    from adgcl.data.fetch.folder import data_folder
    from adgcl.data.fetch.prepare import bring
    from adgcl.data.load import load_dataset

    screen = Screen(as_json, quiet)
    entry, folder = find_entry(name), data_folder(data_dir)
    with Bars(screen) as bars:
        bring(entry, folder, bars)
        dataset = load_dataset(entry.name, data_dir=folder, progress=bars)
    screen.emit({"name": entry.name, "graphs": len(dataset), "data_dir": str(folder)})
    screen.show(f"{entry.name} is ready: {len(dataset):,} graphs.")
    screen.say(
        f"\nNext:\n  adgcl data info {entry.name}\n  adgcl pretrain {entry.name} --out runs/{entry.name.lower()}"
    )


@app.command("describe")
@reads_data(without=("label_columns", "task", "split"))
def describe(
    data: options.DataArgument,
    out: Annotated[Path, typer.Option("--out", "-o", help="The packed file to write; it ends in .graphs.")],
    atom_features: Annotated[
        str, typer.Option("--atom-features", help="How SMILES become features: hu or ogb.")
    ] = "hu",
    *,
    reading: Reading,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Label molecules with RDKit's descriptors, and pack them as one file.

    The method `descriptors` learns to predict them: a way to pre-train without
    any measurement. About a thousand molecules a second on one core.

    \b
    Examples:
      adgcl data describe ZINC-250K --out zinc.graphs
      adgcl pretrain zinc.graphs --preset descriptors-transfer --out runs/zinc
    """
    from adgcl.cli.bad_rows import show_bad_rows
    from adgcl.cli.progress import Bars
    from adgcl.core.config import build
    from adgcl.core.files import check_writable, refuse_input
    from adgcl.data.describing import described
    from adgcl.data.packed import save_dataset
    from adgcl.graphs.store.storage import SUFFIX
    from adgcl.training.run_config import DataConfig

    screen = Screen(as_json, quiet)
    if out.suffix != SUFFIX:
        raise ConfigError(f"A packed file cannot be called {out.name}.", f"Let it end in {SUFFIX}.")
    check_writable(out.parent)
    refuse_input(out, data)
    with Bars(screen) as bars:
        seen = build(DataConfig, {"atom_features": atom_features}, "data")
        dataset = make_source(data, **reading).load_for(seen, bars)
        labelled = described(dataset, progress=lambda done, total: bars("describe", done, total))
    save_dataset(labelled, out)
    show_bad_rows(screen, dataset.bad_rows, len(dataset) + len(dataset.bad_rows))
    screen.emit({"out": str(out), "graphs": len(labelled), "descriptors": labelled.task.num_tasks})
    screen.show(f"Wrote {out}: {len(labelled):,} molecules with {labelled.task.num_tasks} descriptors each.")
    screen.say(f"\nNext:\n  adgcl pretrain {out} --preset descriptors-transfer --out runs/{out.stem}")


def _listed(entry: Entry, folder: Path) -> dict[str, Any]:
    from adgcl.published import statistics

    published = statistics(entry.origin.paper_name or entry.name)
    return {
        "name": entry.name,
        "title": entry.title,
        "family": entry.origin.family,
        "graphs": published.graphs if published else None,
        "task": _task(entry.task.kind, entry.task.num_tasks, entry.task.num_classes),
        "metric": "–" if entry.task.metric == "none" else entry.task.metric,
        "licence": entry.origin.licence,
        "here": entry.is_here(folder),
        "aliases": list(entry.aliases),
    }


def _task(kind: str, tasks: int, classes: int) -> str:
    if kind == "none":
        return "no labels"
    return f"{classes} classes" if kind == "multiclass" else f"{tasks} x {kind}" if tasks > 1 else kind


def _count(graphs: int | None) -> str:
    return "–" if graphs is None else f"{graphs:,}"


def _print_info(screen: Screen, dataset: Dataset, figures: list[Figure]) -> None:
    origin, task = dataset.origin, dataset.task
    facts = {
        "source": origin.source,
        "licence": origin.licence,
        "citation": origin.citation,
        "note": origin.note,
        "task": _task(task.kind, task.num_tasks, task.num_classes)
        + (f", scored by {task.metric}" if task.kind != "none" else ""),
        "split": ", ".join(f"{part} {len(ids):,}" for part, ids in dataset.split.items())
        if dataset.split
        else "none: cross-validation",
    }
    screen.show(table(("", ""), [(k, v) for k, v in facts.items() if v], title=dataset.name))
    words = {True: "yes", False: "no", None: ""}
    cells = [
        (_NAMES[f.name], _number(f.counted), "–" if f.published is None else _number(f.published), words[f.agrees])
        for f in figures
    ]
    screen.show(table(("", "counted", "paper", "agrees"), cells, right=("counted", "paper")))


def _print_lookalikes(screen: Screen, dataset: Dataset, lookalikes: list[Lookalikes]) -> None:
    """What no encoder of the 1-WL kind can tell apart, whatever it is trained on."""
    best = {"accuracy": "best accuracy", "rocauc": "best ROC-AUC", "rmse": "least RMSE", "mae": "least MAE"}
    labelled = [found for found in lookalikes if found.ceiling is not None]
    heads: tuple[str, ...] = ("an encoder that sees", "graphs alike", "pairs")
    cells: list[tuple[str, ...]] = [(f.sees, f"{f.alike:,}", f"{f.pairs:,}") for f in lookalikes]
    if labelled:
        heads += ("labels differ", best[dataset.task.metric])
        cells = [(*row, f"{f.differing:,}", _score(f.ceiling)) for row, f in zip(cells, labelled)]
    screen.show(table(heads, cells, title="Graphs that the 1-WL test cannot tell apart", right=heads[1:]))


def _score(value: float | None) -> str:
    return "–" if value is None or value != value else f"{value:.4g}"


def _number(value: float | int) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"
