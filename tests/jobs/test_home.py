"""A worker elsewhere refuses to work before it could do harm: another version, folders or locks it cannot see."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from adgcl.jobs.home import Home, WorkerError, signed_home
from adgcl.jobs.processes import Processes
from tests.jobs.test_processes import end_of


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ADGCL_CACHE", "somewhere")
    monkeypatch.setenv("SECRET", "none of its business")
    with signed_home(tmp_path / "work") as made:
        yield made


def test_another_process_enters_where_everything_is_shared(home: Home, tmp_path: Path) -> None:
    with Processes(1) as executor:
        executor.start("other", _enter, replace(home, environment={**home.environment, "ADGCL_TEST": "passed on"}))
        assert end_of(executor, "other").result == (str(tmp_path), "passed on")  # type: ignore[union-attr]
    assert "SECRET" not in home.environment and home.environment["ADGCL_CACHE"] == "somewhere"


def _enter(home: Home, send: object) -> tuple[str, str]:
    home.enter()
    return os.getcwd(), os.environ["ADGCL_TEST"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"version": "0.0.1"}, r"has adgcl .*, but this command is adgcl 0\.0\.1"),
        ({"folder": Path("/no/such/folder")}, "cannot see /no/such/folder"),
        ({"cwd": Path("/no/such/place")}, "cannot see /no/such/place"),
    ],
)
def test_what_is_not_shared_is_refused(home: Home, change: dict[str, object], words: str) -> None:
    with pytest.raises(WorkerError, match=words) as caught:
        replace(home, **change).enter()  # type: ignore[arg-type]
    assert caught.value.hint


def test_locks_that_are_not_noticed_are_refused(tmp_path: Path) -> None:
    with signed_home(tmp_path) as home:
        pass
    assert home.sign is not None and not home.sign.exists()
    home.sign.mkdir()  # as it would look on a machine that does not see who holds the lock
    with pytest.raises(WorkerError, match="does not notice locks"):
        home.enter()


def test_signs_of_killed_commands_go(tmp_path: Path) -> None:
    (tmp_path / ".home-left").mkdir()
    with signed_home(tmp_path) as home:
        assert [path.name for path in tmp_path.iterdir()] == [home.sign.name]  # type: ignore[union-attr]
    assert list(tmp_path.iterdir()) == []
