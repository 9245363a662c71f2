"""`python -m benchmarks.quality [updates|step] [--jobs 2]`: what faster training costs in quality, from Records.

`updates` compares the faster updates with the authors' own, `step` the compiled step with the plain one. Every variant
is evaluated with the published protocol and the same seeds. Records are kept in `benchmarks/quality/`, and
`docs/quality.md` is generated from them; finished seeds are never run again.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import NamedTuple

import numpy as np

from adgcl.core.records import Record, read_records
from adgcl.experiments.evaluation import Work, evaluate
from adgcl.experiments.planning import Request
from adgcl.experiments.source import Source
from adgcl.graphs.kernels.precision import EMULATE
from adgcl.reports.formats.markdown import to_markdown
from adgcl.reports.table import Table
from benchmarks import step_quality
from benchmarks.changes import by_chance, change_of, in_deviations, means_of, scores_of

HERE = Path(__file__).parent
RECORDS, PAGE = HERE / "quality" / "updates", HERE.parent / "docs" / "quality.md"

# Small test folds give noisy means, and small sets are quick: the smaller the set, the more seeds.
SEEDS = {"MUTAG": 50, "PROTEINS": 10, "ogbg-molbbbp": 5}
FEWEST = min(SEEDS.values())


class Variant(NamedTuple):
    """One way to run the same training."""

    update: str
    precision: str

    @property
    def title(self) -> str:
        return f"{self.update}, {self.precision}"


REFERENCE = Variant("alternating", "float32")
VARIANTS = (REFERENCE, Variant("simultaneous", "float32"), Variant("simultaneous", "bfloat16"))


def request(variant: Variant) -> Request:
    """The settings of our tables, including the number of epochs, changed only by the variant."""
    flags = {"training": {"precision": variant.precision, "step": "plain"}, "protocol": {"mode": "as_published"}}
    return Request(method="adgcl", assignments=(f"update={variant.update}",), flags=flags)


def run(dataset: str, variant: Variant, work: Path, jobs: int) -> Record:
    """Train and evaluate every seed of one variant, reusing finished ones."""
    os.environ[EMULATE] = "1"
    judged = evaluate(
        Source(dataset),
        request(variant),
        range(SEEDS[dataset]),
        Work(work, jobs),
        command="python -m benchmarks.quality",
    )
    return judged.records[0]


def variant_of(record: Record) -> Variant:
    return Variant(record.config["method"]["update"], record.config["training"]["precision"])


def page(records: list[Record]) -> str:
    """The table, and what it says in words."""
    # Records with fewer seeds may be left over from earlier runs.
    found = {(r.dataset, variant_of(r)): r for r in sorted(records, key=lambda record: len(record.seeds))}
    pairs = [
        (found[dataset, variant], found[dataset, REFERENCE])
        for dataset in SEEDS
        for variant in VARIANTS
        if {(dataset, variant), (dataset, REFERENCE)} <= found.keys()
    ]
    table = to_markdown(Table.of(_COLUMNS, [_row(*pair) for pair in pairs], numbers=_COLUMNS[5:]))
    return f"{_INTRODUCTION}\n{table}\n{_verdict(pairs)}"


_COLUMNS = (
    "data set", "epochs", "seeds", "update and precision", "metric",
    "mean ± std", "change ± error", "in std", f"in std, first {FEWEST} seeds", "of all epochs ± error", "s per seed",
)  # fmt: skip


def _row(record: Record, reference: Record) -> tuple[str, ...]:
    scores, usual = scores_of(record), scores_of(reference)
    changes = ("", "", "", "")
    if record is not reference:
        change, error = change_of(scores, usual)
        few = in_deviations(scores[:FEWEST], usual[:FEWEST])
        overall, its_error = change_of(means_of(record), means_of(reference))
        changes = (
            f"{change:+.2f} ± {error:.2f}",
            f"{in_deviations(scores, usual):+.2f}",
            f"{few:+.2f}",
            f"{overall:+.2f} ± {its_error:.2f}",
        )
    return (
        record.dataset,
        str(record.config["training"]["epochs"]),
        str(len(scores)),
        variant_of(record).title,
        record.metric,
        f"{record.mean:.2f} ± {record.std:.2f}",
        *changes,
        f"{np.mean([r['seconds'] for r in record.runs]):.0f}",
    )


def _verdict(pairs: list[tuple[Record, Record]]) -> str:
    """How many changes are within one deviation, over all seeds and over the first few, and what few seeds can show."""
    changed = [pair for pair in pairs if pair[0] is not pair[1]]
    if not changed:
        return ""
    return (
        f"{_within_one(changed, 'all seeds', None)}\n"
        f"{_within_one(changed, f'the first {FEWEST} seeds', FEWEST)}\n"
        f"- Two equal methods differ by more than one standard deviation in {100 * by_chance(FEWEST):.0f} of 100 "
        f"comparisons of {FEWEST} seeds. So few seeds prove little, hence more of them where they are cheap.\n"
        f"{_not_by_chance(changed)}\n"
    )


def _within_one(changed: list[tuple[Record, Record]], which: str, seeds: int | None) -> str:
    changes = {
        f"{record.dataset}, {variant_of(record).title}": in_deviations(
            scores_of(record)[:seeds], scores_of(reference)[:seeds]
        )
        for record, reference in changed
    }
    within = sum(abs(change) <= 1 for change in changes.values())
    largest = max(changes, key=lambda title: abs(changes[title]))
    return (
        f"- Over {which}, {within} of {len(changes)} changes are within one standard deviation. "
        f"The largest: {changes[largest]:+.2f} ({largest})."
    )


def _not_by_chance(changed: list[tuple[Record, Record]]) -> str:
    """Which means over all epochs moved by more than two errors."""
    found = []
    for record, reference in changed:
        change, error = change_of(means_of(record), means_of(reference))
        if abs(change) > 2 * error:
            found.append(f"{change:+.2f} ± {error:.2f} on {record.dataset} ({variant_of(record).title})")
    changes = "; ".join(found) or "none"
    return f"- Means over all epochs that moved by more than two errors, unlikely to be chance: {changes}."


_INTRODUCTION = f"""# What the faster updates cost in quality

AD-GCL evaluated with the published protocol (`as_published`, linear probe), the settings of our tables (150 epochs on
the TU sets; 20 on molecules, the first of the paper's choices) and the same seeds: with the authors' alternating update
in float32, with one shared pass (`update = "simultaneous"`, Algorithm 1 of the paper), and with that in `bfloat16`. The
error is the standard error of the change; *in std* gives the change in units of the larger of the two standard
deviations over seeds. The score is that of the epoch chosen on validation data, and much of its change is the luck of
that choice; *of all epochs* compares the means over all evaluated epochs instead. Generated by
`python -m benchmarks.quality` from the Records in `benchmarks/quality/`; seconds are wall time with both cores busy.

At width 32 the GIN encoder computes in float32 whatever the setting (16-bit products gain nothing there), so on the TU
sets `bfloat16` affects only the projection head and the edge MLP. Its results are those of 16-bit products on any
machine: on processors without instructions for them, factors and results are rounded ({EMULATE}=1).
"""


def whole_page() -> str:
    """Both comparisons, from the Records there are."""
    return page(read_records(RECORDS)) + step_quality.section()


def run_updates(only: list[str], work: Path, jobs: int) -> None:
    """Every variant of the update, one data set after another."""
    for dataset in only:
        for variant in VARIANTS:
            record = run(dataset, variant, work, jobs)
            path = record.save(RECORDS)
            print(f"{dataset}, {variant.title}: {record.mean:.2f} ± {record.std:.2f} ({path.name})", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__)
    parser.add_argument("about", nargs="*", metavar="updates|step", help="which comparison; both by default")
    parser.add_argument("--only", nargs="+", choices=[*SEEDS, *step_quality.SEEDS], help="which data sets")
    parser.add_argument("--work", type=Path, default=Path("runs"), help="where finished seeds are kept")
    parser.add_argument("--jobs", type=int, default=2, help="seeds at a time")
    parser.add_argument("--page-only", action="store_true", help="only generate the page from existing Records")
    arguments = parser.parse_args()
    if unknown := set(arguments.about) - {"updates", "step"}:
        parser.error(f"there is no comparison of {', '.join(sorted(unknown))}: choose updates or step")
    for name, seeds, compare in (
        ("updates", SEEDS, run_updates),
        ("step", step_quality.SEEDS, step_quality.run_paths),
    ):
        if not arguments.page_only and name in (arguments.about or ("updates", "step")):
            compare([d for d in seeds if d in (arguments.only or seeds)], arguments.work, arguments.jobs)
    PAGE.write_text(whole_page(), encoding="utf-8")


if __name__ == "__main__":
    main()
