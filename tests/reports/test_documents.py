"""Tables and figures from Records: every number as the Record has it."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest

from adgcl.core.errors import OutputError
from adgcl.core.records import Record
from adgcl.reports import documents, numbers
from adgcl.reports.folders import find_records
from adgcl.reports.formats.markdown import to_markdown
from adgcl.reports.record_tables import pivots, record_list
from adgcl.reports.svg import Axis
from adgcl.reports.table import Table


def record(**changes: Any) -> Record:
    facts: dict[str, Any] = {
        "dataset": "MUTAG", "method": "adgcl", "mode": "strict", "protocol": "unsupervised", "probe": "linear",
        "metric": "accuracy", "higher_is_better": True, "mean": 88.123456, "std": 1.25, "values": [87.0, 89.2],
        "seeds": [0, 1], "runs": [], "published": {"table": "t", "method": "AD-GCL-FIX", "mean": 89.25, "std": 1.45},
        "config": {}, "data": {}, "seconds": 75.4, "peak_memory_mb": 1.0, "versions": {"adgcl": "0.1.0"},
        "machine": {"processor": "p", "cores": 2}, "created": "2026-01-01",
    }  # fmt: skip
    return Record(**{**facts, **changes})


REGRESSION = {
    "dataset": "ESOL & co",
    "metric": "rmse",
    "higher_is_better": False,
    "mean": 1.2,
    "std": None,
    "published": None,
}


def test_numbers_have_the_decimals_of_their_metric() -> None:
    assert numbers.result(record()) == "88.12 ± 1.25"
    assert numbers.result(record(**REGRESSION)) == "1.200"
    assert numbers.published(record()) == "89.25 ± 1.45" and numbers.published(record(published=None)) == "–"
    assert numbers.signed(numbers.difference(record()), "accuracy") == "-1.13"


@pytest.mark.parametrize(("mean", "higher", "verdict"), [
    (90.0, True, "better"), (88.0, True, "worse"), (88.0, False, "better"), (89.25, False, "equal"),
])  # fmt: skip
def test_better_depends_on_the_metric(mean: float, higher: bool, verdict: str) -> None:
    assert numbers.verdict(numbers.gain(record(mean=mean, higher_is_better=higher)), None) == verdict


def test_within_one_published_deviation_is_equal() -> None:
    verdicts = [numbers.verdict(gain, 1.5) for gain in (1.6, 1.5, 0.0, -1.5, -1.6, None)]
    assert verdicts == ["better", "equal", "equal", "equal", "worse", ""]


@pytest.mark.parametrize(("seconds", "text"), [(8.12, "8.1 s"), (75.4, "1 min 15 s"), (7500, "2 h 05 min")])
def test_times(seconds: float, text: str) -> None:
    assert numbers.seconds_label(seconds) == text


def test_methods_carry_the_papers_names() -> None:
    assert numbers.method_label("adgcl") == "AD-GCL" and numbers.method_label("random_init") == "RU-GIN"
    assert numbers.method_label("mine") == "mine"


def texts(table: Table) -> list[tuple[str, ...]]:
    return [tuple(cell.plain for cell in row.cells) for row in table.rows]


def test_the_list_shows_every_record() -> None:
    table = record_list([record(), record(**REGRESSION)])
    assert texts(table)[0] == (
        "MUTAG", "AD-GCL", "strict", "linear probe", "accuracy (%) ↑", "88.12 ± 1.25", "2", "89.25 ± 1.45",
        "-1.13", "1 min 15 s",
    )  # fmt: skip
    assert [row.cells[8].verdict for row in table.rows] == ["worse", ""]


def test_markdown_escapes_bars() -> None:
    lines = to_markdown(record_list([record(dataset="a|b")])).splitlines()
    assert len(lines) == 3 and "a\\|b" in lines[2] and lines[1].endswith("---: |")


def test_own_data_has_no_published_columns() -> None:
    own = [record(dataset="mine", published=None), record(dataset="yours", published=None)]
    page = documents.to_markdown(own)
    assert "mine" in page and "published" not in page.lower() and "difference" not in page
    page = documents.to_markdown([*own, record()])
    assert "published" in page and "difference" in page


def test_csv_has_full_numbers() -> None:
    rows = list(csv.DictReader(io.StringIO(documents.to_csv([record(), record(**REGRESSION)]))))
    assert float(rows[0]["mean"]) == 88.123456 and float(rows[0]["difference"]) == pytest.approx(-1.126544)
    assert rows[1]["std"] == "" and rows[1]["published_mean"] == ""


def test_pivot_has_methods_down_and_data_sets_across() -> None:
    old = record(mean=1.0, created="2025-01-01")
    (pivot,) = pivots([record(), old, record(dataset="NCI1"), record(method="random_init", published=None)])
    assert [column.name for column in pivot.columns] == ["method", "MUTAG", "NCI1"]
    assert texts(pivot) == [
        ("AD-GCL", "88.12 ± 1.25", "88.12 ± 1.25"),
        ("AD-GCL-FIX (published)", "89.25 ± 1.45", "89.25 ± 1.45"),
        ("RU-GIN", "88.12 ± 1.25", "–"),
    ]


def test_modes_probes_and_metrics_are_never_mixed() -> None:
    many = [
        record(),
        record(mode="as_published"),
        record(probe="svm"),
        record(**REGRESSION),
        record(protocol="finished-run"),
    ]
    assert len(pivots(many)) == 5


def test_latex_is_escaped() -> None:
    text = documents.to_latex([record(**REGRESSION)])
    assert r"ESOL \& co" in text and r"\downarrow" in text and text.count("{") == text.count("}")


@pytest.mark.parametrize("ending", [".md", ".tex", ".csv", ".svg"])
def test_every_ending_is_written(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"report{ending}"
    documents.write_report([record(), record(**REGRESSION)], path)
    assert "MUTAG" in path.read_text(encoding="utf-8")


def test_unknown_ending(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="docx"):
        documents.write_report([record()], tmp_path / "report.docx")


def test_records_are_found_and_read_back(tmp_path: Path) -> None:
    record().save(tmp_path / "below")
    assert find_records(tmp_path) == [record()]


@pytest.mark.parametrize("values", [[0.0, 1.0], [5.0], [-3.2, 7.9], [88.1, 89.0], [1e-6, 2e-6], [0.0, 0.0], [1e6, 3e6]])
def test_axes_hold_their_values_between_round_ticks(values: list[float]) -> None:
    axis = Axis.over(values, 0.0, 100.0)
    assert all(-1e-6 <= axis.place(value) <= 100 + 1e-6 for value in values)
    assert 2 <= len(axis.ticks) <= 12


def test_axes_know_what_they_hold() -> None:
    axis = Axis.over([0.0, 10.0], 100.0, 200.0)
    assert axis.holds(10.0) and not axis.holds(10.1) and axis.clip(11.0) == 10.0 and axis.clip(5.0) == 5.0
