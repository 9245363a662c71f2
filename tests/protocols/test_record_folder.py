"""One rule for which Record is the cell: more seeds of the same settings win, the newest among equals."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adgcl.core.records import Record, read_records
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


def _of_seeds(values: dict[int, float], **changes: Any) -> Record:
    """A Record of few labels with these values, whose folds are one point below and above."""
    rows = [
        {"seed": seed, "test": value, "valid": value, "epochs": [5], "folds": [value - 1, value + 1], "seconds": 2.0}
        for seed, value in values.items()
    ]
    config = {**SETTINGS, "protocol": {"name": "semi_supervised"}}
    made: dict[str, Any] = {"protocol": "semi_supervised", "probe": "head", "config": config,
                            "seeds": list(values), "values": list(values.values()), "runs": rows,
                            "seconds": 2.0 * len(values), "notes": ["Said of all.", *_spread(1.414)]}  # fmt: skip
    return a_record(**{**made, **changes})


def _spread(number: float) -> list[str]:
    return [f"Spread over the folds of a seed: ± {number:.4g} (standard deviation, mean over seeds)."]


def test_different_seeds_of_the_same_work_become_one_record(tmp_path: Path) -> None:
    here = {"processor": "Z80", "cores": 2}
    keep(_of_seeds({0: 70.0}, machine=here, versions={"revision": "abc"}, created="2026-01-01T10:00"), tmp_path)
    keep(_of_seeds({2: 74.0}, created="2026-01-02T10:00"), tmp_path)
    keep(_of_seeds({1: 71.0, 2: 74.0}, created="2026-01-03T10:00"), tmp_path)
    (record,) = read_records(tmp_path)
    assert (record.seeds, record.values, record.seconds) == ([0, 1, 2], [70.0, 71.0, 74.0], 6.0)
    assert record.mean == pytest.approx(71.666667) and record.std == pytest.approx(2.081666)
    assert [row["seed"] for row in record.runs] == record.seeds and record.created == "2026-01-03T10:00"
    assert record.notes == ["Said of all.", "Seed 0 is from 2026-01-01 (Z80, revision abc).", *_spread(1.414)]


def test_remarks_about_results_are_made_anew(tmp_path: Path) -> None:
    wide = _of_seeds({1: 71.0})
    wide = replace(wide, runs=[{**wide.runs[0], "folds": [68.0, 74.0]}], notes=["Said of all.", *_spread(4.243)])
    keep(_of_seeds({0: 70.0}), tmp_path)
    keep(wide, tmp_path)
    (record,) = read_records(tmp_path)
    assert record.notes == ["Said of all.", *_spread(2.828)]


def test_seeds_that_gave_something_else_elsewhere_do_not_join(tmp_path: Path) -> None:
    keep(_of_seeds({0: 70.0, 1: 71.0}), tmp_path)
    keep(_of_seeds({1: 71.5, 2: 74.0}), tmp_path)
    assert sorted(record.seeds for record in read_records(tmp_path)) == [[0, 1], [1, 2]]


def test_encoders_of_seeds_are_the_same_work_if_they_were_made_in_the_same_way(tmp_path: Path) -> None:
    def started(**origin: str) -> dict[str, Any]:
        base = _of_seeds({0: 1.0}).config
        return {**base, "started_from": {"method": "adgcl", "epochs": 100, **origin}}

    keep(_of_seeds({0: 70.0}, config=started(made="a")), tmp_path)
    keep(_of_seeds({1: 71.0}, config=started(made="a")), tmp_path)
    keep(_of_seeds({2: 72.0}, config=started(made="b")), tmp_path)
    keep(_of_seeds({3: 73.0}, config=started(checksum="c")), tmp_path)
    keep(_of_seeds({4: 74.0}, config=started(checksum="d")), tmp_path)
    assert sorted(record.seeds for record in read_records(tmp_path)) == [[0, 1], [2], [3], [4]]
