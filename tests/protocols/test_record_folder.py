"""One rule for which Record is the cell: more seeds of the same settings win, the newest among equals."""

from __future__ import annotations

from pathlib import Path

from adgcl.core.records import read_records
from adgcl.protocols.record_folder import current, keep
from tests.record_cases import a_record

SETTINGS = {"method": {"name": "adgcl"}, "training": {"epochs": 2, "threads": 1}, "protocol": {"probes": ["linear"]}}
OTHER = {**SETTINGS, "training": {"epochs": 3}}


def test_more_seeds_replace_fewer(tmp_path: Path) -> None:
    one = a_record(seeds=[0], values=[88.0], config=SETTINGS)
    two = a_record(
        config={**SETTINGS, "protocol": {"probes": ["linear", "svm"]}, "training": {"epochs": 2, "threads": 2}}
    )
    keep(one, tmp_path)
    keep(two, tmp_path)
    assert read_records(tmp_path) == [two]
    assert keep(one, tmp_path) == tmp_path / two.file_name, "what is covered is not saved again"
    assert read_records(tmp_path) == [two]


def test_other_settings_and_other_values_stay(tmp_path: Path) -> None:
    for record in (a_record(config=SETTINGS), a_record(config=OTHER), a_record(config=SETTINGS, probe="svm")):
        keep(record, tmp_path)
    assert len(read_records(tmp_path)) == 3
    again = a_record(config=SETTINGS, values=[1.0, 2.0])
    keep(again, tmp_path)
    assert len(read_records(tmp_path)) == 3 and again in read_records(tmp_path)


def test_a_later_record_with_fewer_seeds_and_other_values_stays_beside_the_fuller_one(tmp_path: Path) -> None:
    five = a_record(config=SETTINGS, seeds=[0, 1, 2, 3, 4], values=[88.0] * 5, created="2026-01-01")
    one = a_record(config=SETTINGS, seeds=[0], values=[88.92], std=None, mean=88.92, created="2026-01-02")
    keep(five, tmp_path)
    keep(one, tmp_path)
    assert current(read_records(tmp_path)) == [five]


def test_the_newest_among_equals_and_the_settings_used_last() -> None:
    old = a_record(config=OTHER, created="2026-01-01", seeds=[0, 1, 2])
    many = a_record(config=SETTINGS, created="2026-01-02")
    few = a_record(config=SETTINGS, created="2026-01-03", seeds=[0])
    assert current([few, old, many]) == [many], "the fuller of the settings used last"
    again = a_record(config=SETTINGS, created="2026-01-04", values=[87.0, 91.0])
    assert current([again, many]) == current([many, again]) == [again]


def test_cells_differ_in_data_row_mode_protocol_and_score() -> None:
    cells = [
        a_record(),
        a_record(dataset="NCI1"),
        a_record(method="graphcl"),
        a_record(mode="as_published"),
        a_record(protocol="finished-run"),
        a_record(probe="svm"),
    ]
    assert current(cells) == cells


def test_damaged_files_are_left_alone(tmp_path: Path) -> None:
    record = a_record(config=SETTINGS)
    broken = tmp_path / record.file_name.replace(".json", "x.json")
    broken.write_text("{")
    place = keep(record, tmp_path)
    assert place.name == record.file_name and broken.read_text() == "{"
    assert keep(record, tmp_path) == place, "and the good one is found beside it"
