"""`make bench` or `python -m benchmarks [--only PART ...] [--json] [--write]`: every ratio, measured in one run."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator

from benchmarks.measured import PARTS, keep, table
from benchmarks.timing import Measurement

Measure = Callable[[], Iterator[Measurement]]


def _measurements(parts: list[str]) -> Iterator[Measurement]:
    from benchmarks import (
        embedding,
        evaluation,
        few_labels_speed,
        molecules,
        parallel_speed,
        parsing,
        start,
        training_step,
        transfer_speed,
        whole_protocol,
    )

    work: dict[str, list[Measure]] = {
        "training": [lambda s=s: training_step.measure(s) for s in training_step.SETTINGS],
        "start": [start.measure],
        "evaluation": [
            *(lambda n=n: evaluation.measure(n) for n in evaluation.SETS),
            *(lambda n=n: evaluation.measure_fingerprints(n) for n in evaluation.FINGERPRINTS),
        ],
        "protocol": [whole_protocol.measure],
        "transfer": [
            transfer_speed.measure_pretraining,
            transfer_speed.measure_finetuning,
            transfer_speed.measure_embedding,
        ],
        "labels": [
            *(lambda s=s: few_labels_speed.measure_step(*s) for s in few_labels_speed.STEPS),
            few_labels_speed.measure_folds,
        ],
        "embedding": [lambda s=s: embedding.measure(*s) for s in embedding.SETTINGS],
        "parsing": [lambda n=n: parsing.measure(n) for n in parsing.SETS],
        "smiles": [molecules.measure_smiles],
        "store": [molecules.measure_large_store],
        "parallel": [parallel_speed.measure],
    }
    for part in parts:
        for measure in work[part]:
            yield from measure()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), help="which parts to measure")
    parser.add_argument("--json", action="store_true", help="print a list of measurements")
    parser.add_argument("--write", action="store_true", help="save the rows in measured.json and docs/speed.md")
    arguments = parser.parse_args()
    results = []
    for result in _measurements(arguments.only):
        results.append(result)
        mark = "" if result.target is None else ("ok" if result.reached else "BELOW TARGET")
        target = "" if result.target is None else f"target {result.target:g}x"
        print(f"{result.name:75} {result.ratio:7.2f}x  {target:12} {mark}", file=sys.stderr, flush=True)
        if arguments.write:
            keep([result])
    print(json.dumps([r.to_json() for r in results], indent=2) if arguments.json else table(results))


if __name__ == "__main__":
    main()
