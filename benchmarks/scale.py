"""`python -m benchmarks.scale [--only PART ...] [--write]`: what 100 million molecules and 1,000 GPUs would take.

Measures a store of ten million molecules, the exchanges between processes and a step, and derives the rest. `--write`
saves the measurements in `scale.json` and the tables of docs/scale.md; `--render` only makes the tables.
"""

from __future__ import annotations

import argparse
import datetime
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from adgcl.core.files import write_json, write_text
from adgcl.core.provenance import machine
from adgcl.reports.formats.marks import put_between
from benchmarks import parallel_speed, scale_exchange, scale_store
from benchmarks.scale_page import render

HERE = Path(__file__).parent
MEASURED, PAGE = HERE / "scale.json", HERE.parent / "docs" / "scale.md"

PARTS: dict[str, Callable[[], Any]] = {
    "store": scale_store.measure,
    "exchange": scale_exchange.measure,
    "step": lambda: {"batch": 256, "seconds": parallel_speed.seconds_of_a_step(1, steps=6)},
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), help="which parts to measure")
    parser.add_argument("--write", action="store_true", help="save the measurements and the tables")
    parser.add_argument("--render", action="store_true", help="only make the tables, from saved measurements")
    arguments = parser.parse_args()
    tree: dict[str, Any] = json.loads(MEASURED.read_text(encoding="utf-8")) if MEASURED.exists() else {}
    for name in () if arguments.render else arguments.only:
        tree[name] = PARTS[name]()
        here = machine()
        tree["machine"] = f"{here['processor']}, {here['cores']} cores"
        tree["measured"] = datetime.datetime.now(datetime.UTC).date().isoformat()
        if arguments.write:
            write_json(MEASURED, tree)
    if missing := [name for name in PARTS if name not in tree]:
        print(f"Still to be measured: {', '.join(missing)}.")
    elif arguments.write or arguments.render:
        write_text(PAGE, put_between(PAGE.read_text(encoding="utf-8"), "scale", render(tree)))
    else:
        print(render(tree))


if __name__ == "__main__":
    main()
