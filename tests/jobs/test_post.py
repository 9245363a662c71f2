"""Messages in files: in order, each once, whatever a kill leaves behind."""

from __future__ import annotations

from pathlib import Path

from adgcl.jobs.executor import Done
from adgcl.jobs.post import Inbox, Outbox


def test_each_message_comes_once_and_in_order(tmp_path: Path) -> None:
    inbox = Inbox(tmp_path, 3)
    assert inbox.take() == [] and inbox.end() is None
    outbox = Outbox(tmp_path, 3)
    outbox.send({"a": 1})
    outbox.send(("b", 2))
    assert inbox.take() == [{"a": 1}, ("b", 2)] and inbox.take() == []
    outbox.send("c")
    outbox.end(Done(4))
    assert inbox.take() == ["c"] and inbox.end() == Done(4)
    assert Inbox(tmp_path, 3).take() == [{"a": 1}, ("b", 2), "c"], "who comes later hears everything"
    assert Inbox(tmp_path, 4).take() == []


def test_a_line_that_was_cut_is_skipped_and_one_in_the_making_is_waited_for(tmp_path: Path) -> None:
    outbox, inbox = Outbox(tmp_path, 0), Inbox(tmp_path, 0)
    outbox.send("whole")
    (path,) = tmp_path.iterdir()
    line = path.read_bytes().splitlines()[1]
    with path.open("ab") as file:
        file.write(line[: len(line) // 2])
    assert inbox.take() == ["whole"]
    Outbox(tmp_path, 0).send("after")  # the worker comes back
    assert inbox.take() == ["after"]
    with path.open("ab") as file:
        file.write(line[:5])
    assert inbox.take() == []
    with path.open("ab") as file:
        file.write(line[5:] + b"\n")
    assert inbox.take() == ["whole"]
