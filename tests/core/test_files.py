"""Files are whole or not there, and errors say what to do."""

from __future__ import annotations

import errno
import json

import pytest

from adgcl.core import files
from adgcl.core.errors import DataError, OutputError
from adgcl.core.records import read_record, read_records
from tests.record_cases import a_record


def test_a_failed_write_leaves_the_old_file_and_no_rubbish(tmp_path):
    path = tmp_path / "a.txt"
    files.write_text(path, "old")

    def fail(part):
        part.write_text("half")
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OutputError) as caught:
        files.atomic_write(path, fail)
    assert "disk is full" in caught.value.hint
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


def test_a_folder_that_cannot_be_made_is_explained(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="Cannot write"):
        files.ensure_folder(tmp_path / "file" / "below")


def test_records_come_back_as_they_were(tmp_path):
    record = a_record(values=[88.0, 90.0], std=1.414214)
    path = record.save(tmp_path)
    assert read_record(path) == record
    assert read_records(tmp_path) == [record]
    other = a_record(config={"method": {"name": "adgcl", "reg_lambda": 2.0}})
    assert other.file_name != record.file_name


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "adgcl-record-0"}', '{"format": "adgcl-record-1"}'])
def test_what_is_no_record_is_named(tmp_path, text):
    path = tmp_path / "r.json"
    path.write_text(text)
    with pytest.raises(DataError, match=r"r\.json"):
        read_record(path)


def test_a_folder_that_others_can_write_into_is_not_private(tmp_path):
    made = files.private_folder(tmp_path / "work" / ".slurm")
    assert made.stat().st_mode & 0o777 == 0o700 and files.private_folder(made) == made
    made.chmod(0o770)
    with pytest.raises(OutputError, match="Others can write"):
        files.private_folder(made)


@pytest.mark.parametrize(
    "changed",
    [
        {"published": {"table": "table1", "method": "AD-GCL", "mean": 89.0, "std": "1.5"}},
        {"published": {"table": "table1", "method": "AD-GCL", "mean": "89", "std": None}},
        {"runs": [{"seed": 0, "folds": ["88.0"]}]},
        {"runs": [{"seed": "0", "folds": [88.0]}]},
    ],
)
def test_a_number_written_as_text_is_not_one(tmp_path, changed):
    path = tmp_path / "r.json"
    path.write_text(json.dumps({**a_record(values=[88.0], seeds=[0]).to_json(), **changed}))
    with pytest.raises(DataError, match=r"r\.json"):
        read_record(path)


def test_what_killed_processes_left_is_removed_before_anything_is_written(tmp_path):
    import os
    import subprocess
    import sys
    import time

    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    here = files._host()
    left = tmp_path / f".a.txt.{here}-{gone.pid}-0123abcd.part"
    alive = tmp_path / f".a.txt.{here}-{os.getpid()}-0123abcd.part"
    elsewhere, forgotten = tmp_path / ".a.txt.other-1-0123abcd.part", tmp_path / ".a.txt.earlier_version.part"
    for path in (left, alive, elsewhere, forgotten, tmp_path / "download.part"):
        path.write_text("x" * 1000)
    os.utime(forgotten, (time.time() - 10**6,) * 2)
    free: list[bool] = []
    files.atomic_write(tmp_path / "a.txt", lambda part: (free.append(left.exists()), part.write_text("new"))[0])
    assert free == [False]  # the space was there before the new file needed it
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([alive.name, elsewhere.name, "a.txt", "download.part"])


def test_the_longest_names_can_be_written(tmp_path):
    files.write_text(tmp_path / ("n" * 250 + ".txt"), "whole")
    assert [p.read_text() for p in tmp_path.iterdir()] == ["whole"]
