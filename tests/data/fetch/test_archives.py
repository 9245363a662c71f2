"""Zip files that must not be trusted."""

from __future__ import annotations

import stat
import zipfile

import pytest

from adgcl.core.errors import DataError
from adgcl.data.fetch.archives import Limits, extract_safely, open_archive


def make(path, members, compression=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", compression) as file:
        for name, content in members:
            file.writestr(name, content)
    return path


def link(name):
    info = zipfile.ZipInfo(name)
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info


def test_members_are_read_and_extracted(tmp_path):
    path = make(tmp_path / "a.zip", [("d/", ""), ("d/one.txt", b"1" * 5000), ("two.txt", b"2")])
    with open_archive(path) as archive:
        assert archive.names() == ["d/one.txt", "two.txt"]
        assert archive.read("two.txt") == b"2"
        assert [len(piece) for piece in archive.pieces("d/one.txt", 4000)] == [4000, 1000]
        with pytest.raises(DataError, match=r"three.txt is missing"):
            archive.read("three.txt")
    written = extract_safely(path, tmp_path / "out")
    assert [p.relative_to(tmp_path / "out").as_posix() for p in written] == ["d/one.txt", "two.txt"]
    assert (tmp_path / "out" / "d" / "one.txt").read_bytes() == b"1" * 5000
    assert not list((tmp_path / "out").rglob("*.part"))


@pytest.mark.parametrize("name", ["../out.txt", "a/../../b", "/etc/passwd", "C:/x", "a\\..\\b", ".."])
def test_names_that_lead_outside_are_refused(tmp_path, name):
    info = zipfile.ZipInfo("x")
    info.filename = name
    path = make(tmp_path / "a.zip", [("fine.txt", "1"), (info, "2")])
    with pytest.raises(DataError, match="points outside"):
        extract_safely(path, tmp_path / "out")
    assert not list((tmp_path / "out").iterdir())


@pytest.mark.parametrize("name", ["", "."])
def test_files_without_a_name_are_refused(tmp_path, name):
    path = make(tmp_path / "a.zip", [("./", ""), (zipfile.ZipInfo(name), "x")])
    with pytest.raises(DataError, match="without a name"), open_archive(path):
        pass


def test_links_are_refused_inside_and_in_the_folder(tmp_path):
    path = make(tmp_path / "a.zip", [(link("shortcut"), "/etc/passwd")])
    with pytest.raises(DataError, match="link or a device"):
        extract_safely(path, tmp_path / "out")
    (tmp_path / "outside").mkdir()
    (tmp_path / "out" / "d").symlink_to(tmp_path / "outside")
    with pytest.raises(DataError, match="outside"):
        extract_safely(make(tmp_path / "b.zip", [("d/file", "1")]), tmp_path / "out")
    assert not list((tmp_path / "outside").iterdir())


def test_too_much_is_refused_before_anything_is_unpacked(tmp_path):
    path = make(tmp_path / "a.zip", [("zeros", b"\0" * 200_000), ("b", "2"), ("c", "3")])
    for limits, reason in (
        (Limits(members=2), "holds 3 files"),
        (Limits(total_bytes=1000), "unpacks to 200002 bytes"),
        (Limits(free_bytes=1000), "times its size"),
    ):
        with pytest.raises(DataError, match=reason), open_archive(path, limits):
            pytest.fail("opened")
    with open_archive(path) as archive:
        assert len(archive.names()) == 3


def test_repeated_and_encrypted_members_are_refused(tmp_path):
    with pytest.warns(UserWarning, match="Duplicate"):
        path = make(tmp_path / "a.zip", [("x", "1"), ("x", "2")])
    with pytest.raises(DataError, match="holds x twice"), open_archive(path):
        pass
    data = bytearray(make(tmp_path / "b.zip", [("x", "1")]).read_bytes())
    data[data.rfind(b"PK\x01\x02") + 8] |= 1
    (tmp_path / "b.zip").write_bytes(bytes(data))
    with pytest.raises(DataError, match="encrypted"), open_archive(tmp_path / "b.zip"):
        pass


def test_damaged_archives_say_so(tmp_path):
    path = make(tmp_path / "a.zip", [("x.txt", bytes(range(256)) * 50)], zipfile.ZIP_STORED)
    data = path.read_bytes()
    path.write_bytes(data[:100])
    with pytest.raises(DataError, match="not a complete zip file"), open_archive(path):
        pass
    path.write_bytes(data[:100] + b"broken" + data[106:])
    with open_archive(path) as archive, pytest.raises(DataError, match=r"x.txt in .* cannot be unpacked"):
        archive.read("x.txt")
    with pytest.raises(DataError, match="cannot be unpacked"):
        extract_safely(path, tmp_path / "out")
    assert not list((tmp_path / "out").iterdir())
    with pytest.raises(DataError, match="Cannot open"), open_archive(tmp_path / "none.zip"):
        pass
