"""`python -m benchmarks.costs [--write] [--only AXIS ...]`: how time and memory grow, measured at four sizes each.

`--write` saves the measurements in `costs.json` and generates `docs/costs.md`; `--render` only generates the page.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from adgcl.core.files import write_json, write_text
from adgcl.core.provenance import machine
from benchmarks.cost_page import render
from benchmarks.cost_point import Point, measure

HERE = Path(__file__).parent
COSTS, PAGE = HERE / "costs.json", HERE.parent / "docs" / "costs.md"


@dataclass(frozen=True)
class Axis:
    """One size that grows while the others stay fixed, and how the work is counted."""

    title: str
    field: str
    sizes: tuple[int, ...]
    base: Point
    per: str

    def point(self, size: int) -> Point:
        point = replace(self.base, **{self.field: size})
        # The best step is chosen from a few batches; a longer epoch would only take longer.
        return replace(point, graphs=4 * size) if self.field == "batch" else point

    def count(self, size: int) -> int:
        """Into how many pieces of `per` the measured time is divided."""
        point = self.point(size)
        return point.graphs // point.batch if self.per == "step" else 1


_STEP, _JUDGE = Point("training"), Point("evaluation", graphs=1000)
_PROTOCOL = Point("protocol", graphs=192, nodes=18, edges=20)
AXES = {
    "batch": Axis("graphs in a batch", "batch", (16, 32, 64, 128), _STEP, "step"),
    "nodes": Axis("nodes of a graph", "nodes", (32, 64, 128, 256), _STEP, "step"),
    "edges": Axis("edges of a graph", "edges", (64, 128, 256, 512), _STEP, "step"),
    "width": Axis("width of the network", "width", (32, 64, 128, 256), _STEP, "step"),
    "graphs": Axis("graphs of a data set", "graphs", (256, 512, 1024, 2048), _STEP, "epoch"),
    "judged": Axis("graphs of a data set", "graphs", (500, 1000, 2000, 4000), _JUDGE, "evaluation"),
    "columns": Axis("columns of the embedding", "width", (32, 64, 128, 256), _JUDGE, "evaluation"),
    "seeds": Axis("seeds", "seeds", (2, 4, 8, 16), _PROTOCOL, "run"),
}


def measure_axis(axis: Axis) -> list[dict[str, Any]]:
    """A row for each size."""
    rows = []
    for size in axis.sizes:
        cost = measure(axis.point(size))
        cost = replace(cost, seconds=round(cost.seconds / axis.count(size), 6))
        print(f"{axis.title} {size}: {cost.seconds:.4g} s, {cost.megabytes:.4g} MB", file=sys.stderr, flush=True)
        rows.append({"size": size, **asdict(cost)})
    return rows


def page(tree: dict[str, Any]) -> str:
    """The cost table as Markdown."""
    return render({name: AXES[name] for name in tree["axes"]}, tree)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.costs", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=AXES, default=list(AXES))
    parser.add_argument("--write", action="store_true", help="save the measurements and generate the page")
    parser.add_argument("--render", action="store_true", help="only generate the page, from saved measurements")
    arguments = parser.parse_args()
    tree: dict[str, Any] = {"machine": "", "axes": {}}
    if COSTS.exists():
        tree = json.loads(COSTS.read_text(encoding="utf-8"))
    for name in () if arguments.render else arguments.only:
        tree["axes"][name] = measure_axis(AXES[name])
        here = machine()
        tree["machine"] = f"{here['processor']}, {here['cores']} cores"
        if arguments.write:
            write_json(COSTS, tree)
    tree["axes"] = {name: tree["axes"][name] for name in AXES if name in tree["axes"]}
    if arguments.write or arguments.render:
        write_json(COSTS, tree)
        write_text(PAGE, page(tree))
    else:
        print(page(tree))


if __name__ == "__main__":
    main()
