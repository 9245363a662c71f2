"""Files are whole or not there, and errors say what to do."""

from __future__ import annotations

import errno

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
