"""A fuller Record takes the place of a poorer one with the same settings, never of another."""

from __future__ import annotations

from pathlib import Path

from adgcl.core.record_folder import current, keep
from adgcl.core.records import read_records
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


def test_tables_show_the_newest_settings_with_most_seeds() -> None:
    old = a_record(config=OTHER, created="2026-01-01", seeds=[0, 1, 2])
    many = a_record(config=SETTINGS, created="2026-01-02")
    few = a_record(config=SETTINGS, created="2026-01-03", seeds=[0])
    assert current([few, old, many]) == [many]


def test_damaged_files_are_left_alone(tmp_path: Path) -> None:
    record = a_record(config=SETTINGS)
    broken = tmp_path / record.file_name.replace("--", "--", 1).replace(".json", "x.json")
    broken.write_text("{")
    assert keep(record, tmp_path).exists() and broken.exists()
