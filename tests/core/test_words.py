"""Numbers in sentences."""

from __future__ import annotations

from adgcl.core.words import counted, file_size


def test_one_of_something_is_not_several() -> None:
    assert [counted(n, "epoch") for n in (0, 1, 2, 1200)] == ["0 epochs", "1 epoch", "2 epochs", "1,200 epochs"]
    assert [counted(n, "row", "repeats", "repeat") for n in (1, 2)] == ["1 row repeats", "2 rows repeat"]


def test_small_files_are_not_nothing() -> None:
    assert [file_size(n) for n in (900, 42_000, 100_000, 3_745_488)] == ["1 kB", "42 kB", "0.1 MB", "3.7 MB"]
