"""Records among other files: found by what they say they are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from adgcl.core.errors import DataError
from adgcl.reports.folders import find_records, is_run_folder, read_metrics
from tests.record_cases import a_record


def make_run(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps({"method": {"name": "adgcl"}}))
    (folder / "result.json").write_text(json.dumps({"seed": 0, "evaluations": []}))
    (folder / "metrics.jsonl").write_text('{"epoch": 1, "loss": 1.0}\n')


def test_other_json_files_are_passed_over(tmp_path: Path) -> None:
    make_run(tmp_path / "mine" / "seed-0")
    (tmp_path / "list.json").write_text("[1, 2]")
    (tmp_path / "notes.json").write_text("not JSON at all")
    (tmp_path / "other.json").write_text('{"format": "geojson"}')
    a_record().save(tmp_path / "below")
    assert find_records(tmp_path) == [a_record()]


def test_runs_without_records_say_how_to_draw_them(tmp_path: Path) -> None:
    make_run(tmp_path / "runs" / "mine")
    make_run(tmp_path / "runs" / "other")
    with pytest.raises(DataError, match="only 2 runs") as error:
        find_records(tmp_path / "runs")
    assert f"adgcl report {tmp_path / 'runs' / 'mine'} --out curves.svg" in (error.value.hint or "")
    assert is_run_folder(tmp_path / "runs" / "mine") and not is_run_folder(tmp_path / "runs")


def test_nothing_at_all(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no folder"):
        find_records(tmp_path / "nowhere")
    with pytest.raises(DataError, match="no Records") as error:
        find_records(tmp_path)
    assert "adgcl evaluate" in (error.value.hint or "") and "curves" not in (error.value.hint or "")


@pytest.mark.parametrize("damage", ["cut", "field", "version"])
def test_damaged_records_are_named(tmp_path: Path, damage: str) -> None:
    path = a_record().save(tmp_path)
    tree = json.loads(path.read_text())
    if damage == "cut":
        path.write_text(path.read_text()[:100])
    elif damage == "field":
        del tree["mean"]
        path.write_text(json.dumps(tree))
    else:
        path.write_text(json.dumps({**tree, "format": "adgcl-record-99"}))
    with pytest.raises(DataError, match=path.name) as error:
        find_records(tmp_path)
    assert "Remove it" in (error.value.hint or "")


def test_damaged_metrics(tmp_path: Path) -> None:
    make_run(tmp_path / "run")
    assert read_metrics(tmp_path / "run") == [{"epoch": 1, "loss": 1.0}]
    (tmp_path / "run" / "metrics.jsonl").write_text('{"epoch": 1, "lo')
    with pytest.raises(DataError, match="damaged metrics"):
        read_metrics(tmp_path / "run")
