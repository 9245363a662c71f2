"""The page of results: findings in plain words, then every published table that Records can fill."""

from __future__ import annotations

from collections.abc import Sequence

from adgcl.core.records import Record
from adgcl.protocols.finished_run import FinishedRun
from adgcl.published import layouts
from adgcl.reports.comparison import Comparison, compare_records
from adgcl.reports.comparison_files import to_markdown
from adgcl.reports.comparison_tables import LEGEND
from adgcl.reports.findings import best_against_paper, findings, overview
from adgcl.reports.formats.markdown import with_title
from adgcl.reports.numbers import REFERENCE
from adgcl.reports.record_tables import pivots

MODES = ("as_published", "strict")
_RULE = (
    "Better, equal and worse are relative to the published figure; equal is within one published standard deviation."
)

_FROZEN = (
    "What `adgcl embed NAME` gives, scored by a linear probe on each set's own scaffold split; no label of any "
    "molecule was seen in training. ECFP is a fingerprint of 2,048 counts, `+ ECFP` is the vector concatenated with "
    "it, and RU-GIN is the same encoder untrained."
)


def comparisons_of(records: Sequence[Record]) -> list[Comparison]:
    """Every table and mode that some Record belongs to."""
    found = (compare_records(table, mode, records) for table in layouts().values() for mode in MODES)
    return [comparison for comparison in found if comparison is not None and _has_rivals(comparison)]


def _has_rivals(comparison: Comparison) -> bool:
    """Whether there is a row that the paper compares AD-GCL with: a table is about them."""
    return any(row in comparison.table.methods and not row.startswith(REFERENCE) for row in comparison.rows)


def results_page(records: Sequence[Record]) -> str:
    """Markdown, made from Records alone."""
    comparisons = comparisons_of(records)
    said: set[tuple[str, str]] = set()
    parts = ["## In plain words\n", _RULE + "\n"]
    for comparison in comparisons:
        parts += _in_words(comparison, said)
    parts += ["## The tables\n", LEGEND + "\n"]
    parts += [to_markdown(comparison, "###", legend=False) for comparison in comparisons]
    tables = frozen_tables(records)
    if tables:
        parts += ["## Packaged encoders, frozen\n", _FROZEN + "\n", tables]
    return "\n".join(parts)


def frozen_tables(records: Sequence[Record]) -> str:
    """How packaged encoders do as they are, next to what needs no training."""
    return "\n".join(map(with_title, pivots([r for r in records if r.protocol == FinishedRun.name])))


def _in_words(comparison: Comparison, said: set[tuple[str, str]]) -> list[str]:
    """What a table says, once: later tables with the same probe repeat the cells of earlier ones."""
    mode, probe = comparison.modes[0], comparison.table.probe
    found = [f for f in findings(comparison, mode) if (probe + mode, f.dataset) not in said]
    said |= {(probe + mode, finding.dataset) for finding in found}
    if not found:
        return []
    sentences = [s for s in (overview(found), best_against_paper(comparison, mode)) if s]
    lines = "".join(f"- {finding.sentence()}\n" for finding in found)
    return [f"### {comparison.table.name}, {probe} probe, {mode}\n", " ".join(sentences) + "\n", lines]
