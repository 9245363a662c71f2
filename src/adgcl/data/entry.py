"""Entry: one known data set, as its family's file declares it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from adgcl.core.schema import Task
from adgcl.data.dataset import Dataset, Origin


@dataclass(frozen=True)
class Download:
    """A file at its public source: its address, its place below the data folder, and its checksum."""

    url: str
    path: str
    sha256: str | None = None
    unpack: bool = False


@dataclass(frozen=True)
class Entry:
    """A data set known by name: what it is, the files it needs, and how to read them.

    `files` are relative to the data folder; any one of the alternatives in a tuple will do. `load` gets the
    data folder and returns the Dataset with every feature the source has. Where the files are not those of the public
    home, `by_hand` says how they are made.
    """

    name: str
    title: str
    task: Task
    origin: Origin
    load: Callable[[Path], Dataset]
    files: tuple[tuple[str, ...], ...] = ()
    downloads: tuple[Download, ...] = ()
    aliases: tuple[str, ...] = ()
    by_hand: str = ""

    def is_here(self, folder: Path) -> bool:
        return all(any((folder / path).exists() for path in choices) for choices in self.files)
