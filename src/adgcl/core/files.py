"""Writing files so that a crash, a full disk or a second process never leaves a partial file."""

from __future__ import annotations

import errno
import json
import os
import re
import secrets
import socket
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from adgcl.core.errors import OutputError

# A file in the making: `.NAME.HOST-PROCESS-RANDOM.part`.
_PART = re.compile(r"\..+\.(?P<host>[^.]+)-(?P<process>\d+)-[0-9a-f]{8}\.part")
# Nobody takes this long for one file: what is older was left by a process of another host, or of an earlier version.
_ABANDONED = 86400.0


def user_cache() -> Path:
    """The folder for what this user's programs can make again; it need not exist."""
    base = os.environ.get("XDG_CACHE_HOME")
    # The XDG rules say that a relative path must be ignored.
    home = Path(base) if base and os.path.isabs(base) else Path.home() / ".cache"
    return home / "adgcl"


def ensure_folder(path: Path) -> Path:
    """Make `path` a writable folder, or say why it cannot be one."""
    with explain_os_errors(path):
        path.mkdir(parents=True, exist_ok=True)
        if not os.access(path, os.W_OK):
            raise OutputError(f"Cannot write into {path}.", "Choose another folder, or change its permissions.")
    return path


def private_folder(path: Path) -> Path:
    """Make `path` a folder into which nobody else can write, or refuse it: what it holds will be run."""
    ensure_folder(path.parent)
    with explain_os_errors(path):
        path.mkdir(mode=0o700, exist_ok=True)
        found = path.stat()
        if found.st_uid != os.getuid() or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise OutputError(f"Others can write into {path}, and what it holds is run.", "Choose another folder.")
    return path


def check_writable(folder: Path) -> None:
    """Check before long work whether `folder` is writable, without leaving anything behind."""
    place = Path(folder)
    with explain_os_errors(folder):
        while not place.exists() and place != place.parent:
            place = place.parent
        if not place.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, f"{place} is not a folder")
        with tempfile.TemporaryFile(dir=place) as file:
            file.write(b"adgcl")


def refuse_input(out: Path, *inputs: object) -> None:
    """Refuse to write a result over the very file that it is made from."""
    for given in inputs:
        if isinstance(given, str | Path) and out.exists() and Path(given).exists() and out.samefile(given):
            raise OutputError(f"{out} is an input of this command.", "Give another name with --out.")


def atomic_write(path: Path, write: Callable[[Path], None]) -> None:
    """Let `write` fill a temporary file next to `path`, then move it there in one step."""
    path = Path(path)
    ensure_folder(path.parent)
    with explain_os_errors(path):
        _sweep(path.parent)
        # The name is cut so that the longest names that the system allows can still be written.
        part = path.parent / f".{path.name[:100]}.{_host()}-{os.getpid()}-{secrets.token_hex(4)}.part"
        try:
            write(part)
            _sync(part)
            part.chmod(0o644)
            os.replace(part, path)
        finally:
            with suppress(OSError):
                part.unlink(missing_ok=True)


def write_bytes(path: Path, content: bytes) -> None:
    atomic_write(path, lambda part: _write(part, content))


def write_text(path: Path, text: str) -> None:
    write_bytes(path, text.encode("utf-8"))


def write_json(path: Path, value: Any) -> None:
    write_text(path, json.dumps(value, indent=2, sort_keys=False, allow_nan=False) + "\n")


def append_text(path: Path, text: str) -> None:
    """Add to the end of a file; what a crash leaves of it is for the reader to skip."""
    with explain_os_errors(path):
        _append(path, text)


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
    if error.errno == errno.EIO:
        return "The disk reports a fault. Check it, or choose another folder; nothing saved so far is lost."
    return "Check the path and try again."


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def _append(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(text)


def _sync(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _sweep(folder: Path) -> None:
    """Remove what processes that are gone left unfinished: it would take up the space that is needed now."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(".") and entry.name.endswith(".part") and _is_left_over(entry):
                with suppress(OSError):
                    os.unlink(entry.path)


def _is_left_over(entry: os.DirEntry[str]) -> bool:
    made_by = _PART.fullmatch(entry.name)
    if made_by is not None and made_by["host"] == _host():
        return not is_running(int(made_by["process"]))
    with suppress(OSError):
        return time.time() - entry.stat().st_mtime > _ABANDONED
    return False


def is_running(process: int) -> bool:
    """Whether a process of this host still exists; where asking would end it (Windows), it is taken to."""
    if os.name == "nt":
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


@cache
def _host() -> str:
    """The name of this host, as part of a file name."""
    return re.sub(r"[^A-Za-z0-9_]", "_", socket.gethostname())[:40] or "host"
