"""Zip files from elsewhere, read without trusting them."""

from __future__ import annotations

import lzma
import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from adgcl.core.errors import DataError
from adgcl.core.files import atomic_write, ensure_folder

_GET_AGAIN = "Download the file again from its public source."
_DANGER = "This archive may be harmful. Unpack it yourself if you trust its source."


@dataclass(frozen=True)
class Limits:
    """How much an archive may unpack to; the ratio counts only above `free_bytes`."""

    members: int = 20_000
    total_bytes: int = 16 << 30
    ratio: float = 200.0
    free_bytes: int = 16 << 20


class Archive:
    """The members of a checked zip file, by name."""

    def __init__(self, path: Path, file: zipfile.ZipFile, limits: Limits) -> None:
        self.path = path
        self._file = file
        self._members = _checked_members(path, file, limits)

    def names(self) -> list[str]:
        return list(self._members)

    def read(self, name: str) -> bytes:
        """The bytes of one member, straight from the archive."""
        with _explained(self.path, name):
            return self._file.read(self._members[name])

    def pieces(self, name: str, size: int = 1 << 22) -> Iterator[bytes]:
        """The bytes of one member, a piece at a time."""
        with _explained(self.path, name), self._file.open(self._members[name]) as source:
            while piece := source.read(size):
                yield piece

    def copy(self, name: str, target: Path) -> None:
        """Write one member to `target`, a piece at a time."""
        with target.open("wb") as sink:
            for piece in self.pieces(name):
                sink.write(piece)


@contextmanager
def open_archive(path: Path, limits: Limits | None = None) -> Iterator[Archive]:
    """Open a zip file after checking that it holds only plain files of acceptable size with safe names."""
    path = Path(path)
    try:
        file = zipfile.ZipFile(path)
    except OSError as error:
        raise DataError(f"Cannot open {path}: {error.strerror or error}.", "Check the path.") from error
    except Exception as error:  # a damaged directory makes zipfile fail in many ways, by struct, unicode and its own
        raise DataError(f"{path} is not a complete zip file: {error}.", _GET_AGAIN) from error
    with file:
        yield Archive(path, file, limits or Limits())


def extract_safely(path: Path, folder: Path, limits: Limits | None = None) -> list[Path]:
    """Unpack a zip file into `folder` and nowhere else; each file appears complete or not at all."""
    folder = ensure_folder(Path(folder)).resolve()
    written = []
    with open_archive(path, limits) as archive:
        for name in archive.names():
            target = folder / name
            # A link that already exists in the folder must not lead out of it either.
            if not target.resolve().is_relative_to(folder):
                raise DataError(f"{name} in {path} would be written outside {folder}.", _DANGER)
            atomic_write(target, lambda part, name=name: archive.copy(name, part))  # type: ignore[misc]
            written.append(target)
    return written


def _checked_members(path: Path, file: zipfile.ZipFile, limits: Limits) -> dict[str, zipfile.ZipInfo]:
    infos = file.infolist()
    if len(infos) > limits.members:
        raise DataError(f"{path} holds {len(infos)} files; at most {limits.members} are allowed.", _DANGER)
    _check_size(path, infos, limits)
    members: dict[str, zipfile.ZipInfo] = {}
    for info in infos:
        _check_member(path, info)
        if info.is_dir():
            continue
        if info.filename in members:
            raise DataError(f"{path} holds {info.filename} twice.", _GET_AGAIN)
        members[info.filename] = info
    return members


def _check_size(path: Path, infos: list[zipfile.ZipInfo], limits: Limits) -> None:
    # zipfile never yields more bytes than the size declared here, so checking declarations is enough.
    total = sum(info.file_size for info in infos)
    if total > limits.total_bytes:
        raise DataError(f"{path} unpacks to {total} bytes; the limit is {limits.total_bytes}.", _DANGER)
    packed = max(sum(info.compress_size for info in infos), 1)
    if total > limits.free_bytes and total > limits.ratio * packed:
        raise DataError(f"{path} unpacks to {total // packed} times its size.", _DANGER)


def _check_member(path: Path, info: zipfile.ZipInfo) -> None:
    name = info.filename
    parts = PurePosixPath(name).parts
    if name.startswith("/") or "\\" in name or "\0" in name or ".." in parts or ":" in (parts or ("",))[0]:
        raise DataError(f"{path} holds a file that points outside the archive: {name!r}.", _DANGER)
    if not parts and not name.endswith("/"):
        raise DataError(f"{path} holds a file without a name.", _GET_AGAIN)
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise DataError(f"{name} in {path} is a link or a device, not a plain file.", _DANGER)
    if info.flag_bits & 0x1:
        raise DataError(f"{name} in {path} is encrypted.", "Unpack it yourself and give the folder.")


@contextmanager
def _explained(path: Path, name: str) -> Iterator[None]:
    """Turn what a damaged member raises into a DataError that names it."""
    try:
        yield
    except KeyError as error:
        raise DataError(f"{name} is missing in {path}.", _GET_AGAIN) from error
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, RuntimeError, ValueError) as error:
        # OSError is also what bz2 calls damage, and RuntimeError a compression or encryption that zipfile lacks.
        raise DataError(f"{name} in {path} cannot be unpacked: {error}.", _GET_AGAIN) from error
