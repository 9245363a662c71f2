"""The page of the theory: figures, tables and what they say, all from one tree of numbers."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

from adgcl.core.errors import DataError
from adgcl.core.files import write_json, write_text
from adgcl.reports import theory_tables as tables
from adgcl.reports.theory_figure import curve_figure, label_figure
from adgcl.reports.theory_tables import Tree, excess, height, trained_rows
from adgcl.theory.labels import TITLES

_NUMBERS = "numbers.json"
# Differences below this many bits are not worth a sentence.
_CLEARLY = 0.005


def write_page(tree: Tree, path: Path) -> list[Path]:
    """Write the page, and its figures and numbers into a folder of the same name next to it."""
    folder = path.with_suffix("")
    texts = {path: page(tree, folder.name), **{folder / name: text for name, text in figures(tree).items()}}
    for file, text in texts.items():
        write_text(file, text)
    write_json(folder / _NUMBERS, tree)
    return [*texts, folder / _NUMBERS]


def read_numbers(path: Path) -> dict[str, Any]:
    """The numbers of a page that was written before."""
    hint = f"Use the {_NUMBERS} of an earlier page."
    try:
        tree = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"{path} cannot be read: {error}.", hint) from error
    if not isinstance(tree, dict) or "universes" not in tree:
        raise DataError(f"{path} does not hold the numbers of a theory page.", hint)
    return tree


def figures(tree: Tree) -> dict[str, str]:
    """Every figure of the page by file name."""
    made = {f"curve-{nodes}.svg": curve_figure(int(nodes), entry) for nodes, entry in tree["universes"].items()}
    nodes = _largest(tree)
    made["labels.svg"] = label_figure(int(nodes), tree["universes"][nodes]["points"], tree["frames"], TITLES)
    return made


def page(tree: Tree, folder: str = "theory") -> str:
    """The page as Markdown."""
    from jinja2 import Environment, StrictUndefined

    text = files("adgcl.reports").joinpath("templates/theory.md").read_text(encoding="utf-8")
    template = Environment(undefined=StrictUndefined, trim_blocks=True).from_string(text)
    values = {**_of_curves(tree), **_of_training(tree), **_of_statements(tree)}
    return template.render(folder=folder, nodes=_largest(tree), lam=f"{tree['lambda']:g}", **values) + "\n"


def _largest(tree: Tree) -> str:
    """The largest number of nodes with curves, as the tree spells it."""
    return max(tree["universes"], key=int)


def _of_curves(tree: Tree) -> dict[str, Any]:
    points = tree["universes"][_largest(tree)]["points"]
    lost = {family: [excess(point, family) for point in points] for family in ("independent", "uniform")}
    # Where uniform dropping loses next to nothing there is nothing to recover.
    won = [100 * (1 - own / one) for own, one in zip(*lost.values()) if one > 1e-3]
    gaps = [point["any"]["gap_bits"] for entry in tree["universes"].values() for point in entry["points"]]
    kept = [f["forgetful"]["information_bits"] / f["forgetful"]["all_bits"] for f in tree["frames"].values()]
    return {
        "curves": [tables.curve_part(nodes, entry) for nodes, entry in tree["universes"].items()],
        "count": len(gaps),
        "gap": f"{max(gaps):.1e}",
        "own": f"{max(lost['independent']):.2f}",
        "one": f"{max(lost['uniform']):.2f}",
        "won_least": f"{min(won):.0f}",
        "won_most": f"{max(won):.0f}",
        "label_table": tables.label_table(tree, _largest(tree)),
        "kept_table": tables.kept_table(tree, _largest(tree)),
        "uniform_least": sum(k[-1] < min(k[:-1]) - _CLEARLY for k in tables.kept(tree, _largest(tree)).values()),
        "framed": len(tree["frames"]),
        "kept_least": f"{100 * min(kept):.0f}",
        "kept_most": f"{100 * max(kept):.0f}",
        "other_table": tables.other_table(tree),
    }


def _of_training(tree: Tree) -> dict[str, Any]:
    rows = trained_rows(tree)
    heights = [height(row.point, row.points) for row in rows]
    mean = {
        logits: sum(h for h, row in zip(heights, rows) if row.logits == logits)
        / sum(row.logits == logits for row in rows)
        for logits in ("network", "free")
    }
    return {
        **{key: tree[key] for key in ("steps", "warm_up", "patience")},
        "trained_table": tables.trained_table(rows),
        "trained_count": len(rows),
        "most": f"{max(heights):.2f}",
        "above": sum(h >= 0 for h in heights),
        "below": sum(h < 0 for h in heights) or "none",
        **{f"mean_{logits}": f"{value:.2f}" for logits, value in mean.items()},
        "fewer": sum(row.point["drop_ratio"] < row.best["independent"]["drop_ratio"] for row in rows),
        "overstated": sum(row.point["seen_bits"] > row.point["information_bits"] for row in rows),
        "bound_broken": sum(row.point["bound_bits"] > row.point["information_bits"] for row in rows),
    }


def _of_statements(tree: Tree) -> dict[str, Any]:
    checked = [row for labels in tree["statements"].values() for row in labels.values()]
    labels = tree["statements"][_largest(tree)]
    pairs = [pair for found in tree["pairs"].values() for pair in found]
    worst = max(row["printed_given_label_bits"] - row["bound_bits"] for row in tree["counterexample"])
    return {
        "statement_table": tables.statement_table(tree["statements"]),
        "statement_count": len(checked),
        "step_fails": sum(not row["second_step_holds"] for row in checked),
        "averaging_fails": sum(not row["averaging_step_holds"] for row in checked),
        "printed_fails": sum(not row["printed_holds"] for row in labels.values()),
        "label_count": len(labels),
        "worst": f"{worst:.2f}",
        "counterexample_table": tables.counterexample_table(tree["counterexample"]),
        "pair_table": tables.pair_table(tree["pairs"]),
        "pair_count": len(pairs),
        "pair_nodes": " and ".join(f"{len(found)} with {nodes} nodes" for nodes, found in tree["pairs"].items()),
        "apart": sum(pair["first_drop"] == 1 for pair in pairs),
        "alike": sum(pair["first_drop"] is None for pair in pairs) or "none",
    }
