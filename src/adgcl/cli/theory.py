"""`adgcl theory`: the optimum that the paper argues about, computed exactly on all graphs of a few nodes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from adgcl.cli.options import Json, Quiet
from adgcl.cli.screen import Screen, table

_FAMILIES = {"any": "any augmentation", "independent": "each edge its own", "uniform": "one for all edges"}
_TRAINED = {"network": "AD-GCL, trained", "free": "AD-GCL, free logits"}
_COLUMNS = {"drop_ratio": ".4f", "information_bits": ".4f", "gap_bits": ".1e"}
_UNIVERSE, _PAGE = "Universe", "Page"


def theory(
    nodes: Annotated[
        int, typer.Option("--nodes", "-n", help="All graphs with this many nodes, up to 7.", rich_help_panel=_UNIVERSE)
    ] = 5,
    lam: Annotated[
        float, typer.Option("--lambda", "-l", help="The price of dropping edges, in nats.", rich_help_panel=_UNIVERSE)
    ] = 5.0,
    weights: Annotated[
        str,
        typer.Option(
            "--weights",
            help="uniform: each graph up to isomorphism is as likely; labelled: each labelled graph.",
            rich_help_panel=_UNIVERSE,
        ),
    ] = "uniform",
    colours: Annotated[
        int, typer.Option("--colours", help="How many colours nodes may have.", rich_help_panel=_UNIVERSE)
    ] = 1,
    starts: Annotated[
        int | None,
        typer.Option(
            "--starts",
            help="Starts for the paper's family, which is not convex. Default: 8, with 7 nodes 1.",
            rich_help_panel=_UNIVERSE,
        ),
    ] = None,
    train: Annotated[
        bool, typer.Option("--train", help="Also train AD-GCL on these graphs (a minute).", rich_help_panel=_UNIVERSE)
    ] = False,
    page: Annotated[
        Path | None,
        typer.Option(
            "--page", help="Compute everything and write it as a Markdown page with figures.", rich_help_panel=_PAGE
        ),
    ] = None,
    numbers: Annotated[
        Path | None,
        typer.Option("--numbers", help="Make the page from these numbers of an earlier one.", rich_help_panel=_PAGE),
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compute how much of a graph the best augmentation leaves.

    AD-GCL looks for the augmentation that leaves the least information about
    a graph G: I(t(G); G) + lambda * expected share of edges dropped. On small
    graphs the optimum can be computed: over all augmentations, with a
    certificate; over the paper's, where each edge has a probability of its
    own; and over uniform dropping. docs/theory.md explains the results.

    \b
    Examples:
      adgcl theory --nodes 5 --lambda 5
      adgcl theory --nodes 6 --lambda 10 --json
      adgcl theory --nodes 4 --train
      adgcl theory --page theory.md
    """
    from adgcl.cli.progress import Bars
    from adgcl.core.errors import ConfigError
    from adgcl.theory.study import Study

    screen = Screen(as_json, quiet)
    if weights not in ("uniform", "labelled"):
        raise ConfigError(f"There are no weights called {weights!r}.", "Use uniform or labelled.")
    if page is not None or numbers is not None:
        _write_page(screen, page, numbers)
        return
    with Bars(screen) as bars:
        study = Study(nodes, weights, colours, starts, bars)  # type: ignore[arg-type]
        tree = study.solve(lam)
        if train:
            tree["trained"] = study.train(lam)
    screen.emit(tree)
    _show(screen, tree)


def _write_page(screen: Screen, page: Path | None, numbers: Path | None) -> None:
    from adgcl.cli.progress import Bars
    from adgcl.core.errors import ConfigError
    from adgcl.core.files import check_writable
    from adgcl.reports.theory_page import read_numbers, write_page
    from adgcl.theory.survey import survey

    if page is None:
        raise ConfigError("--numbers makes a page, but --page does not say where.", "Add --page FILE.md.")
    check_writable(page.parent)
    if numbers is not None:
        tree = read_numbers(numbers)
    else:
        with Bars(screen) as bars:
            tree = survey(bars)
    paths = write_page(tree, page)
    screen.emit({"files": [str(path) for path in paths]})
    screen.show("Wrote " + ", ".join(map(str, paths)) + ".")


def _show(screen: Screen, tree: dict[str, Any]) -> None:
    graphs = f"{tree['graphs']:,} graphs of {tree['nodes']} nodes, {tree['classes']:,} classes under the 1-WL test"
    found = {name: tree[key] for key, name in _FAMILIES.items()}
    found |= {_TRAINED[key]: trained for key, trained in tree.get("trained", {}).items()}
    cells = [
        (name, *(format(o[key], how) if key in o else "" for key, how in _COLUMNS.items())) for name, o in found.items()
    ]
    heads: tuple[str, ...] = ("keep probabilities", "drop ratio", "bits about G'", "at most above optimum")
    screen.show(table(heads, cells, title=f"{graphs}; lambda {tree['lambda']:g}", right=heads[1:]))
    known = {
        name: [label[key] for key in ("entropy_bits", "encoder_bits", "information_bits")]
        + [label[key]["information_bits"] for key in ("independent", "uniform")]
        for name, label in tree["labels"].items()
    }
    cells = [(name, *(f"{value:.3f}" for value in values)) for name, values in known.items()]
    heads = ("label Y", "H(Y)", "I(f(G);Y)", "I(t;Y): any", "each edge", "one for all")
    screen.show(table(heads, cells, title="Bits about labels", right=heads[1:]))
    screen.say("The last column of the first table is in bits. `adgcl theory --page FILE.md` draws whole curves.")
