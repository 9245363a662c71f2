"""`make bench` or `python -m benchmarks [--only PART ...] [--json]`: every ratio, measured in one run."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator

from benchmarks.timing import Measurement

PARTS = ("training", "evaluation", "smiles", "store", "protocol")


def _measurements(parts: list[str]) -> Iterator[Measurement]:
    from benchmarks import evaluation, molecules, training_step, whole_protocol

    work: dict[str, list[Callable[[], Iterator[Measurement]]]] = {
        "training": [lambda s=s: training_step.measure(s) for s in training_step.SETTINGS],
        "evaluation": [lambda n=n: evaluation.measure(n) for n in evaluation.SETS],
        "smiles": [molecules.measure_smiles],
        "store": [molecules.measure_large_store],
        "protocol": [whole_protocol.measure],
    }
    for part in parts:
        for measure in work[part]:
            yield from measure()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), help="which parts to measure")
    parser.add_argument("--json", action="store_true", help="print a list of measurements")
    arguments = parser.parse_args()
    results = []
    for result in _measurements(arguments.only):
        results.append(result)
        mark = "" if result.target is None else ("ok" if result.reached else "BELOW TARGET")
        target = "" if result.target is None else f"target {result.target:g}x"
        print(f"{result.name:75} {result.ratio:7.2f}x  {target:12} {mark}", file=sys.stderr, flush=True)
    print(json.dumps([r.to_json() for r in results], indent=2) if arguments.json else table(results))


def table(results: list[Measurement]) -> str:
    """The measurements as a Markdown table."""
    lines = ["| what | times faster | target | ours | plain | unit |", "| --- | ---: | ---: | ---: | ---: | --- |"]
    for r in results:
        target = "" if r.target is None else f"{r.target:g}"
        plain = "" if r.plain is None else f"{r.plain:.4g}"
        lines.append(f"| {r.name} | {r.ratio:.2f} | {target} | {r.ours:.4g} | {plain} | {r.unit} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
