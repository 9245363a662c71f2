"""Post: messages and Ends as files in a shared folder, from workers that outlive any connection."""

from __future__ import annotations

import base64
import pickle
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from adgcl.core.files import append_text, write_bytes
from adgcl.jobs.executor import End

_DAMAGED = (ValueError, EOFError, pickle.UnpicklingError, AttributeError, ImportError, IndexError)


class Outbox:
    """What one worker sends: a line for each message, and in the end a file that says how it ended."""

    def __init__(self, folder: Path, number: int) -> None:
        self._messages, self._end = _paths(folder, number)
        self.send_line("")  # An earlier life of this worker may have been killed in the middle of a line.

    def send(self, message: Any) -> None:
        self.send_line(base64.b64encode(pickle.dumps(message)).decode("ascii"))

    def send_line(self, text: str) -> None:
        append_text(self._messages, f"{text}\n")

    def end(self, end: End) -> None:
        write_bytes(self._end, pickle.dumps(end))


class Inbox:
    """What has come from one worker; each message is read once."""

    def __init__(self, folder: Path, number: int) -> None:
        self._messages, self._end = _paths(folder, number)
        self._position = 0

    def take(self) -> list[Any]:
        """The messages since the last time."""
        found: list[Any] = []
        with suppress(OSError), self._messages.open("rb") as file:
            file.seek(self._position)
            for line in file:
                if not line.endswith(b"\n"):  # still being written
                    break
                self._position += len(line)
                with suppress(*_DAMAGED):
                    found += [pickle.loads(base64.b64decode(line))] if line.strip() else []
        return found

    def end(self) -> End | None:
        """How the worker ended, if it has said so."""
        with suppress(OSError, *_DAMAGED):
            return cast(End, pickle.loads(self._end.read_bytes()))
        return None


def _paths(folder: Path, number: int) -> tuple[Path, Path]:
    return folder / f"worker-{number}.messages", folder / f"worker-{number}.end"
