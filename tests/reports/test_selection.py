"""A cell is the Record with the most seeds of the same settings: in every table, page and figure."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from adgcl.core.records import Record
from adgcl.reports import documents
from adgcl.reports.figure import figure_of_records
from adgcl.reports.formats.terminal import to_text
from adgcl.reports.record_tables import pivots, record_list, record_values
from adgcl.reports.results_page import comparisons_of, results_page
from adgcl.reports.selection import one_per_cell
from tests.record_cases import a_record

PUBLISHED = {"mean": 89.25, "std": 1.45, "method": "AD-GCL-FIX", "table": "table1-tu"}


def mutag(mean: float, seeds: int, created: str, **changes: object) -> Record:
    facts = {"mode": "as_published", "published": PUBLISHED, "std": 1.5 if seeds > 1 else None}
    values = {"mean": mean, "values": [mean] * seeds, "seeds": list(range(seeds)), "created": created}
    return a_record(**{**facts, **values, **changes})


FIVE = mutag(88.54, 5, "2026-01-01")
LATER = mutag(71.23, 1, "2026-02-02")
RIVAL = mutag(87.63, 5, "2026-01-01", method="random_init", published=None)


def outputs(records: list[Record]) -> dict[str, str]:
    """Everything that shows one number for a cell."""
    marks = "".join(f"<!-- {name}:begin -->\n<!-- {name}:end -->" for name in ("results", "headline", "comparisons"))
    return {
        "terminal": to_text(record_list(records)),
        "values": to_text(record_values(records)),
        "pivots": to_text(pivots(records)),
        "section": documents.put_between_marks(marks, records),
        "page": results_page(records),
        "comparison": to_text([record_list([r]) for c in comparisons_of(records) for r in _records(c)]),
        "figure": figure_of_records(records),
        "latex": documents.to_latex(records),
        "csv": documents.to_csv(records),
        "markdown": re.split("## Every record", documents.to_markdown(records))[0],
    }


def _records(comparison):  # type: ignore[no-untyped-def]
    return [cell.record for cell in comparison.cells.values()]


@pytest.mark.parametrize("records", [[FIVE, LATER, RIVAL], [LATER, FIVE, RIVAL], [RIVAL, LATER, FIVE]])
def test_five_seeds_stay_when_one_seed_comes_later(records: list[Record]) -> None:
    for name, text in outputs(records).items():
        assert "88.54" in text and "71.23" not in text, name
    without = [record for record in records if record is not LATER]
    assert {k: v for k, v in outputs(records).items() if k != "markdown"} == {
        k: v for k, v in outputs(without).items() if k != "markdown"
    }


def test_among_equals_the_newest_is_shown() -> None:
    newest = mutag(80.01, 5, "2026-03-03")
    for name, text in outputs([FIVE, newest, LATER, RIVAL]).items():
        assert "80.01" in text and "88.54" not in text and "71.23" not in text, name


def test_the_list_of_every_record_has_them_all() -> None:
    records = [FIVE, LATER, RIVAL]
    every = re.split("Every record", documents.to_markdown(records))[-1]
    assert "88.54" in every and "71.23" in every


def test_selection_keeps_the_order(tmp_path: Path) -> None:
    assert one_per_cell([RIVAL, LATER, FIVE]) == [RIVAL, FIVE]
