"""Writing files so that a crash, a full disk or a second process never leaves a partial file."""

from __future__ import annotations

import errno
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from adgcl.core.errors import OutputError


def ensure_folder(path: Path) -> Path:
    """Make `path` a writable folder, or say why it cannot be one."""
    with explain_os_errors(path):
        path.mkdir(parents=True, exist_ok=True)
        if not os.access(path, os.W_OK):
            raise OutputError(f"Cannot write into {path}.", "Choose another folder, or change its permissions.")
    return path


def check_writable(folder: Path) -> None:
    """Check before long work whether `folder` is writable, without leaving anything behind."""
    place = Path(folder)
    while not place.exists() and place != place.parent:
        place = place.parent
    with explain_os_errors(folder):
        if not place.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, f"{place} is not a folder")
        with tempfile.TemporaryFile(dir=place) as file:
            file.write(b"adgcl")


def atomic_write(path: Path, write: Callable[[Path], None]) -> None:
    """Let `write` fill a temporary file next to `path`, then move it there in one step."""
    path = Path(path)
    ensure_folder(path.parent)
    with explain_os_errors(path):
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
        os.close(handle)
        temporary = Path(name)
        try:
            write(temporary)
            _sync(temporary)
            temporary.chmod(0o644)
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    atomic_write(path, lambda part: _write_utf8(part, text))


def write_json(path: Path, value: Any) -> None:
    write_text(path, json.dumps(value, indent=2, sort_keys=False, allow_nan=False) + "\n")


@contextmanager
def explain_os_errors(path: Path) -> Iterator[None]:
    """Turn an operating-system error about `path` into an OutputError that says what to do."""
    try:
        yield
    except OSError as error:
        raise OutputError(f"Cannot write {path}: {error.strerror or error}.", _advice(error)) from error


def _advice(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "The disk is full. Free some space and run the same command again; nothing saved so far is lost."
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return "Choose another folder with --out, or change its permissions."
    return "Check the path and try again."


def _write_utf8(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _sync(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
