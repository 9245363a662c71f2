"""Where the trials of a search are kept: a journal in a file, or whatever else Optuna can reach by an address."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from filelock import FileLock

from adgcl.core.errors import AdgclError, OutputError
from adgcl.core.extras import import_extra
from adgcl.core.files import ensure_folder, write_text
from adgcl.core.locks import locked

_PLACE = "place"
_CLAIMS = ".claims"
_CHECK = "Check the address, that the server is up, and that the Python package for it is installed."


class StorageError(AdgclError):
    """The storage of a search cannot be reached or read."""


@dataclass(frozen=True)
class Storage:
    """An open storage, and the folder in which processes that share it claim their trials.

    `place` tells such folders apart where a storage is used from several that know nothing of each other; a journal is
    a file, so whoever has it also has the folder beside it.
    """

    optuna: Any
    claims: Path
    place: str = ""


def import_optuna() -> Any:
    """Optuna, quiet: what it has to say we say ourselves."""
    optuna = import_extra("optuna", "tune", "A search for settings")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna


def open_storage(where: str, folder: Path) -> Storage:
    """Open the journal at a path, or the storage at an address; `folder` is that of the search."""
    optuna = import_optuna()
    if "://" not in where:
        path = Path(where)
        claims = ensure_folder(path.with_name(path.name + _CLAIMS))
        with locked(claims, wait=True), explained(str(path)):
            return Storage(optuna.storages.JournalStorage(_journal(path)), claims)
    claims = ensure_folder(folder / "claims")
    with locked(claims, wait=True):
        with explained(where):
            opened = _remote(optuna, where)
        return Storage(opened, claims, _place_of(claims))


@contextmanager
def explained(where: str) -> Iterator[None]:
    """Turn whatever a storage raises into an error that says what to do."""
    try:
        yield
    except (AdgclError, KeyboardInterrupt):
        raise
    except Exception as error:
        first_line = (str(error).strip().splitlines() or [""])[0]
        advice = _CHECK if "://" in where else "Check the path; a damaged journal cannot be continued: choose another."
        raise StorageError(
            f"The storage {public_address(where)} cannot be used: {type(error).__name__}: {first_line}.", advice
        ) from error


def public_address(where: str) -> str:
    """The address without a password."""
    parts = urlsplit(where) if "://" in where else None
    if parts is None or not parts.password:
        return where
    return where.replace(f":{parts.password}@", ":...@", 1)


def _journal(path: Path) -> Any:
    backends = import_extra("optuna.storages.journal", "tune", "A journal")
    ensure_folder(path.parent)
    if path.is_dir():
        raise OutputError(f"{path} is a folder.", "Name the journal itself: a file.")
    return backends.JournalFileBackend(str(path), _SystemLock(path.with_name(path.name + _CLAIMS) / "journal.lock"))


class _SystemLock:
    """A journal's lock that the system frees when its holder dies; Optuna's own would be waited for."""

    def __init__(self, path: Path) -> None:
        self._lock = FileLock(path)

    def acquire(self) -> bool:
        self._lock.acquire()
        return True

    def release(self) -> None:
        self._lock.release()


def _remote(optuna: Any, address: str) -> Any:
    kind, _, rest = address.partition("://")
    if kind in ("redis", "rediss"):
        return optuna.storages.JournalStorage(optuna.storages.journal.JournalRedisBackend(address))
    if kind == "grpc":
        host, _, port = rest.rstrip("/").partition(":")
        proxy = optuna.storages.GrpcStorageProxy(host=host, port=int(port or 13000))
        proxy.wait_server_ready(timeout=10)
        return proxy
    return optuna.storages.RDBStorage(address)


def _place_of(claims: Path) -> str:
    """A lasting name of this folder, which no other has."""
    path = claims / _PLACE
    if not path.exists():
        write_text(path, secrets.token_hex(8))
    return path.read_text(encoding="utf-8").strip()
