"""Tables in the terminal: they fit, nothing is cut off, and what all rows share is said once."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from adgcl.cli.quickstart import result_table
from adgcl.core.gaps import Gap
from adgcl.core.records import Record
from adgcl.published import layout
from adgcl.reports.comparison import compare_outcomes
from adgcl.reports.comparison_files import tables_of
from adgcl.reports.folders import find_records
from adgcl.reports.formats.fitting import fit
from adgcl.reports.formats.terminal import to_text
from adgcl.reports.numbers import judged_by
from adgcl.reports.record_tables import pivots, record_list
from adgcl.reports.results_page import comparisons_of
from adgcl.reports.table import Table
from tests.record_cases import a_record

RESULTS = find_records(Path(__file__).resolve().parents[2] / "results")
PUBLISHED = {"mean": 89.25, "std": 1.45, "method": "AD-GCL-FIX", "table": "table1-tu"}
WIDTHS = [80, 100, 160]
NUMBER = re.compile(r"[-+]?\d+\.\d+(?: ± \d+\.\d+)?")


def assert_fits(tables: Table | list[Table], width: int) -> str:
    """No line is too wide, nothing is cut off, and every number is there as often as the tables have it."""
    text = to_text(tables, width)
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text
    tables = [tables] if isinstance(tables, Table) else tables
    cells = [cell.plain for table in tables for row in table.rows for cell in row.cells]
    wanted = sorted(number for cell in cells for number in NUMBER.findall(cell))
    notes = [number for table in tables for note in table.notes for number in NUMBER.findall(note)]
    assert sorted(NUMBER.findall(text)) == sorted([*wanted, *notes])
    return text


@pytest.mark.parametrize("width", WIDTHS)
def test_the_list_of_all_our_records(width: int) -> None:
    text = assert_fits(record_list(RESULTS), width)
    assert all(record.dataset in text for record in RESULTS)


@pytest.mark.parametrize("width", WIDTHS)
def test_one_result(width: int) -> None:
    text = assert_fits(record_list([a_record(seeds=[0, 1, 2, 3, 4], published=PUBLISHED, seconds=4000.0)]), width)
    first, *_ = text.splitlines()
    assert first == "MUTAG, strict, linear probe, accuracy (%) ↑, 5 seeds"
    assert "AD-GCL" in text and "1 h 06 min" in text and "-0.25" in text
    assert not any(word in text.split() for word in ("mode", "probe\n", "metric", "seeds\n"))


@pytest.mark.parametrize("width", WIDTHS)
def test_two_probes_of_own_data_have_no_published_columns(width: int) -> None:
    records = [a_record(dataset="solubility-of-our-compounds-2024.csv", probe=probe) for probe in ("linear", "svm")]
    text = assert_fits(record_list(records), width)
    assert "published" not in text and "difference" not in text and "svm" in text
    assert text.splitlines()[0] == "solubility-of-our-compounds-2024.csv, AD-GCL, strict, accuracy (%) ↑, 2 seeds"


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("modes", [("as_published",), ("as_published", "strict")])
@pytest.mark.parametrize("name", ["table1-tu", "table1-ogb"])
def test_the_table_of_reproduce(width: int, modes: tuple[str, ...], name: str) -> None:
    table = layout(name)
    found = {(mode, row, dataset): (None, Gap("not run")) for mode in modes for row in table.methods
             for dataset in table.datasets}  # fmt: skip
    found |= {(r.mode, r.method, r.dataset): (r, None) for r in RESULTS if r.probe == "linear" and r.mode in modes}
    comparison = compare_outcomes(table, modes, (*table.methods, "statistics", "ecfp"), table.datasets, found)
    text = assert_fits(tables_of(comparison), width)
    assert all(dataset in text for dataset in table.datasets)


@pytest.mark.parametrize("width", WIDTHS)
def test_every_table_our_records_fill(width: int) -> None:
    for comparison in comparisons_of(RESULTS):
        assert_fits(tables_of(comparison), width)
    assert_fits(pivots(RESULTS), width)


@pytest.mark.parametrize("width", WIDTHS)
def test_the_table_of_quickstart(width: int) -> None:
    error = {"dataset": "ogbg-molfreesolv", "metric": "rmse", "higher_is_better": False, "seconds": 9000.0}
    paper = {"mean": 5.15, "std": 0.624, "method": "AD-GCL-FIX", "table": "table1-ogb"}
    records = [
        a_record(method="random_init", mean=14.213, std=11.799, **error),
        a_record(method="ecfp", mean=4.31, std=None, **error),
        a_record(mean=4.548, std=0.571, published=paper, **error),
    ]
    text = assert_fits(result_table(records), width)
    assert "untrained GIN" in text and "the paper" in text


def test_the_wider_the_terminal_the_fewer_the_pieces() -> None:
    pieces = [len(fit(record_list(RESULTS), width)) for width in WIDTHS]
    assert pieces == sorted(pieces, reverse=True) and pieces[-1] == 1
    at_80 = fit(record_list(RESULTS), 80)
    sections = {(r.mode, judged_by(r), r.metric) for r in RESULTS}
    assert sum(not piece.group for piece in at_80) == len(sections)
    assert {piece.group for piece in at_80} >= {"MUTAG", "ogbg-molfreesolv"}


@pytest.mark.parametrize("width", [20, 40, 60])
def test_narrow_terminals_lose_nothing_either(width: int) -> None:
    text = to_text(record_list([a_record(published=PUBLISHED), a_record(method="ecfp")]), width)
    assert max(map(len, text.splitlines())) <= width and "…" not in text
    assert "89.00" in text and "AD-GCL" in text


def test_long_names_are_wrapped() -> None:
    records: list[Record] = [a_record(dataset="X" * 100), replace(a_record(), method="Q" * 60)]
    text = assert_fits(record_list(records), 80)
    assert text.count("X") == 100 and text.count("Q") == 60
