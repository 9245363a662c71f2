"""`python -m benchmarks.quality [--jobs 2]`: what the faster updates cost in quality, as a table of Records.

Every variant is judged by the published protocol from the same seeds. Records are kept in `benchmarks/quality/`, the
table made from them is `docs/quality.md`; finished seeds are never run again.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import NamedTuple

import numpy as np

from adgcl.core.records import Record, read_records
from adgcl.experiments.evaluation import Work, evaluate_new
from adgcl.experiments.planning import Wishes
from adgcl.experiments.source import Source
from adgcl.graphs.precision import EMULATE
from adgcl.reports.tables import markdown

HERE = Path(__file__).parent
RECORDS, PAGE = HERE / "quality", HERE.parent / "docs" / "quality.md"
SEEDS = 5


class Variant(NamedTuple):
    """One way to run the same training."""

    update: str
    precision: str

    @property
    def title(self) -> str:
        return f"{self.update}, {self.precision}"


REFERENCE = Variant("alternating", "float32")
VARIANTS = (REFERENCE, Variant("simultaneous", "float32"), Variant("simultaneous", "bfloat16"))

DATASETS = ("MUTAG", "PROTEINS", "ogbg-molbbbp")


def wishes(variant: Variant) -> Wishes:
    """The published settings, lengths included, but for the variant."""
    flags = {"training": {"precision": variant.precision}, "protocol": {"mode": "as_published"}}
    return Wishes(method="adgcl", assignments=(f"update={variant.update}",), flags=flags)


def run(dataset: str, variant: Variant, work: Path, jobs: int) -> Record:
    """Train and judge every seed of one variant, or find it finished."""
    os.environ[EMULATE] = "1"
    judged = evaluate_new(
        Source(dataset),
        wishes(variant),
        range(SEEDS),
        Work(work, jobs),
        command="python -m benchmarks.quality",
    )
    return judged.records[0]


def variant_of(record: Record) -> Variant:
    return Variant(record.config["method"]["update"], record.config["training"]["precision"])


def page(records: list[Record]) -> str:
    """The table, and in words what it says."""
    found = {(r.dataset, variant_of(r)): r for r in records}
    rows = []
    for dataset in DATASETS:
        reference = found.get((dataset, REFERENCE))
        for variant in VARIANTS:
            record = found.get((dataset, variant))
            if record is not None and reference is not None:
                rows.append(_row(record, reference, variant))
    columns = ("data set", "epochs", "update and precision", "metric", "mean ± std", "change", "in std", "s a seed")
    return f"{_INTRODUCTION}\n{markdown(columns, rows, columns[4:])}\n"


def _row(record: Record, reference: Record, variant: Variant) -> tuple[str, ...]:
    """The change is counted in the larger of the two standard deviations."""
    change = record.mean - reference.mean
    spread = max(record.std or 0.0, reference.std or 0.0)
    is_reference = variant == REFERENCE
    return (
        record.dataset,
        str(record.config["training"]["epochs"]),
        variant.title,
        record.metric,
        f"{record.mean:.2f} ± {record.std:.2f}",
        "" if is_reference else f"{change:+.2f}",
        "" if is_reference else f"{change / spread:+.2f}",
        f"{np.mean([r['seconds'] for r in record.runs]):.0f}",
    )


_INTRODUCTION = f"""# What the faster updates cost in quality

AD-GCL judged by the published protocol (`as_published`, linear probe) from the same {SEEDS} seeds: with the authors'
alternating update in float32, with one shared pass (`update = "simultaneous"`, Algorithm 1 of the paper), and with that
in `bfloat16`. A change within one standard deviation over seeds is noise. Made by `python -m benchmarks.quality` from
the Records in `benchmarks/quality/`; seconds are wall time of one process on a shared machine.

At width 32 the GIN encoder computes in float32 whatever the setting (16-bit products gain nothing there), so on the TU
sets `bfloat16` reaches the projection head and the edge MLP only. Its numbers are those of 16-bit products on any
machine: where the processor has no instructions for them, factors and results are rounded ({EMULATE}=1).
"""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=DATASETS, default=DATASETS, help="which data sets")
    parser.add_argument("--work", type=Path, default=Path("runs"), help="where finished seeds are kept")
    parser.add_argument("--jobs", type=int, default=2, help="seeds at a time")
    parser.add_argument("--page-only", action="store_true", help="make the page from the Records there are")
    arguments = parser.parse_args()
    if not arguments.page_only:
        for dataset in arguments.only:
            for variant in VARIANTS:
                record = run(dataset, variant, arguments.work, arguments.jobs)
                path = record.save(RECORDS)
                print(f"{dataset}, {variant.title}: {record.mean:.2f} ± {record.std:.2f} ({path.name})", flush=True)
    PAGE.write_text(page(read_records(RECORDS)), encoding="utf-8")


if __name__ == "__main__":
    main()
