"""The tables of the theory page as Markdown."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from adgcl.theory.labels import TITLES

Tree = Mapping[str, Any]
# The lambdas that the table of a curve shows.
_SHOWN = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 40.0)
# A gap below this is rounding.
_ROUNDING = 1e-12
_OTHERS = ("independent", "uniform")


class TrainedRow(NamedTuple):
    """One trained augmenter; `points` are those of its universe, `best` is the one with its lambda."""

    nodes: str
    lam: float
    logits: str
    point: Tree
    points: Sequence[Tree]

    @property
    def best(self) -> Tree:
        return next(point for point in self.points if point["lambda"] == self.lam)


def trained_rows(tree: Tree) -> list[TrainedRow]:
    return [
        TrainedRow(nodes, row["lambda"], logits, row[logits], entry["points"])
        for nodes, entry in tree["universes"].items()
        for row in entry["trained"]
        for logits in ("network", "free")
    ]


def height(point: Tree, points: Sequence[Tree]) -> float:
    """How many bits a point lies above the exact curve: above every line that, as certified, no law can cross."""
    lines = [_lower(p) - p["lambda"] / math.log(2) * point["drop_ratio"] for p in points]
    return float(point["information_bits"] - max(0.0, *lines))


def excess(point: Tree, family: str) -> float:
    """How far the objective of a family is above that of the best law, in bits."""
    return max(float(point[family]["gap_bits"] - point["any"]["gap_bits"]), 0.0)


def curve_part(nodes: str, entry: Tree) -> dict[str, Any]:
    """What the section about one universe shows."""
    heads = ("lambda", "drop ratio", "bits", "gap", *("drop ratio", "bits", "above") * 2)
    points = entry["points"]
    rows = []
    for p in (p for p in points if p["lambda"] in _SHOWN):
        others = [cell for family in _OTHERS for cell in (*_pair(p[family]), f"{excess(p, family):.3f}")]
        rows.append((f"{p['lambda']:g}", *_pair(p["any"]), _gap(p["any"]), *others))
    gap = max(p["any"]["gap_bits"] for p in points)
    counts = {key: points[0][key] for key in ("graphs", "classes")}
    return {"nodes": nodes, **counts, "gap": f"{gap:.1e}", "table": _table(heads, rows)}


def trained_table(rows: Sequence[TrainedRow]) -> str:
    heads = ("nodes", "lambda", "logits", "drop ratio", "exact bits", "loss says", "InfoNCE says", "above the limit")
    cells = []
    for row in rows:
        says = (row.point["seen_bits"], row.point["bound_bits"], height(row.point, row.points))
        cells.append((row.nodes, f"{row.lam:g}", row.logits, *_pair(row.point), *(f"{value:.2f}" for value in says)))
    return _table(heads, cells, left=("logits",))


def label_table(tree: Tree, nodes: str) -> str:
    heads = (
        "Y", "H(Y)", "I(f(G); Y)", "InfoMin: drop ratio", "I(t; Y)", "I(t; G | Y)", "all but Y: bits of G'", "of",
        "bits of Y",
    )  # fmt: skip
    labels = tree["universes"][nodes]["points"][0]["labels"]
    rows = []
    for name, frame in tree["frames"].items():
        values = [labels[name][key] for key in ("entropy_bits", "encoder_bits")]
        values += [frame["infomin"][key] for key in ("drop_ratio", "label_bits", "given_label_bits")]
        values += [frame["forgetful"][key] for key in ("information_bits", "all_bits", "label_bits")]
        rows.append((TITLES[name], *(f"{value:.3f}" for value in values)))
    return _table(heads, rows, left=("Y",))


def kept(tree: Tree, nodes: str) -> dict[str, list[float]]:
    """What each family knows of a label where it knows half of all there is to know of the class."""
    points = tree["universes"][nodes]["points"]
    half = math.log2(points[0]["classes"]) / 2
    found = {}
    for name in tree["frames"]:
        found[name] = [_at(half, points, "any", [p["labels"][name] for p in points])]
        found[name] += [_at(half, points, family, [p["labels"][name][family] for p in points]) for family in _OTHERS]
    return found


def kept_table(tree: Tree, nodes: str) -> str:
    rows = [(TITLES[name], *(f"{value:.3f}" for value in known)) for name, known in kept(tree, nodes).items()]
    return _table(("Y", "any augmentation", "each edge its own", "one for all edges"), rows, left=("Y",))


def statement_table(statements: Tree) -> str:
    heads = (
        "nodes", "Y", "I(t'; G' | Y)", "right side", "printed left side", "printed form", "I(f(G); Y)", "I(t'; Y)",
        "I(t(G); Y)",
    )  # fmt: skip
    rows = [
        (
            nodes,
            name,
            *(f"{row[key]:.4f}" for key in ("given_label_bits", "bound_bits", "printed_given_label_bits")),
            "holds" if row["printed_holds"] else "**fails**",
            *(f"{row[key]:.4f}" for key in ("encoder_bits", "label_bits", "drawn_label_bits")),
        )
        for nodes, labels in statements.items()
        for name, row in labels.items()
    ]
    return _table(heads, rows, left=("Y", "printed form"))


def counterexample_table(rows: Sequence[Tree]) -> str:
    heads = ("edges kept", "I(f(t(G)); G | Y)", "right side", "Y = triangle: I(f(G); Y)", "I(f(t(G)); Y)")
    cells = []
    for row in rows:
        values = [row[key] for key in ("printed_given_label_bits", "bound_bits")]
        values += [row["triangle"][key] for key in ("encoder_bits", "drawn_label_bits")]
        cells.append((f"{row['keep']:g}", *(f"{value:.4f}" for value in values)))
    return _table(heads, cells)


def pair_table(pairs: Tree) -> str:
    heads = ("nodes", "edges", "first graph", "second graph", "edges dropped", "total variation")
    rows = []
    for nodes, found in pairs.items():
        for pair in found:
            graphs = (" ".join(f"{a}{b}" for a, b in edges) for edges in pair["graphs"])
            rows.append((nodes, str(pair["edges"]), *graphs, str(pair["first_drop"]), f"{pair['distance']:.3f}"))
    return _table(heads, rows, left=("first graph", "second graph"))


def other_table(tree: Tree) -> str:
    heads = ("universe", "graphs", "classes", "drop ratio", "bits", "gap", "each edge: above", "one for all: above")
    rows = []
    for p in tree["others"]:
        kind = f"{p['colours']} colours" if "colours" in p else "labelled graphs"
        sizes = (f"{p['nodes']} nodes, {kind}", str(p["graphs"]), str(p["classes"]))
        above = (f"{excess(p, family):.3f}" for family in _OTHERS)
        rows.append((*sizes, *_pair(p["any"]), _gap(p["any"]), *above))
    return _table(heads, rows, left=("universe",))


def _lower(point: Tree) -> float:
    """The certified lower bound of the objective for the lambda of a point, in bits."""
    best = point["any"]
    return float(best["information_bits"] + point["lambda"] / math.log(2) * best["drop_ratio"] - best["gap_bits"])


def _gap(point: Tree) -> str:
    return f"{point['gap_bits']:.0e}" if point["gap_bits"] > _ROUNDING else "0"


def _at(information: float, points: Sequence[Tree], family: str, labels: Sequence[Tree]) -> float:
    """`I(t; Y)` where a family's `I(t; G')` has a given value, on straight lines between the points of its curve."""
    curve = sorted((p[family]["information_bits"], label["information_bits"]) for p, label in zip(points, labels))
    for (x, y), (next_x, next_y) in pairwise(curve):
        if x <= information <= next_x and next_x > x:
            return float(y + (next_y - y) * (information - x) / (next_x - x))
    return math.nan


def _pair(point: Tree) -> tuple[str, str]:
    return f"{point['drop_ratio']:.3f}", f"{point['information_bits']:.3f}"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[str] = ()) -> str:
    """A Markdown table whose columns hold numbers, except those in `left`."""
    marks = ["---" if head in left else "---:" for head in heads]
    names = [head.replace("|", "\\|") for head in heads]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (names, marks, *rows))
