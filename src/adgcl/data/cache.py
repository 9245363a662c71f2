"""Data sets packed once: after that they open immediately, without parsing."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import json
import shutil
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from glob import escape
from pathlib import Path
from typing import Any

from adgcl.core.errors import DataError, OutputError
from adgcl.core.safe_text import file_name
from adgcl.data.dataset import Dataset
from adgcl.data.fetch.folder import packed_folder
from adgcl.data.packed import open_dataset, read_stamp, save_dataset
from adgcl.graphs.store.storage import FORMAT, SUFFIX

# The code that decides what a packed store contains. `tests/data/test_cache.py` follows the imports of every reader and
# fails if one leads to a file that is not named here.
_READERS = (
    "adgcl.data.families",
    "adgcl.data.text",
    "adgcl.data.dataset",
    "adgcl.data.folds",
    "adgcl.data.labelling",
    "adgcl.data.packed",
    "adgcl.data.splits",
    "adgcl.graphs.chem",
    "adgcl.graphs.store.adjacency",
    "adgcl.graphs.store.checks",
    "adgcl.graphs.store.columns",
    "adgcl.graphs.store.concat",
    "adgcl.graphs.store.labels",
    "adgcl.graphs.store.ranges",
    "adgcl.graphs.store.storage",
    "adgcl.graphs.store.store",
    "adgcl.graphs.store.strings",
    "adgcl.graphs.store.tensors",
)

_UNFINISHED = ".unfinished"


@dataclass(frozen=True)
class RawData:
    """What a Dataset is read from: a readable name, files or folders, and the reader's options."""

    name: str
    files: tuple[Path, ...]
    options: dict[str, Any] = field(default_factory=dict)

    def place(self) -> Path:
        """The file that keeps this source packed: one for each set of paths and options."""
        paths = [str(file.resolve()) for file in self.files]
        identity = json.dumps([paths, self.options], sort_keys=True, default=repr)
        return packed_folder() / f"{file_name(self.name)}-{_digest(identity)[:12]}{SUFFIX}"

    def stamp(self) -> str:
        """Changes when a file of the source changes, or the code that reads it."""
        facts = [(str(f), f.stat().st_size, f.stat().st_mtime_ns) for f in _plain_files(self.files)]
        return _digest(json.dumps([FORMAT, _reader_version(), facts]))


def cached(source: RawData, read: Callable[[Path], Dataset]) -> Dataset:
    """The packed Dataset of a source; `read` makes it if no current one exists.

    It is given a folder for what is finished if it is interrupted. The folder belongs to this state of the source and
    goes when the source is packed, with those of earlier states.
    """
    place, stamp = source.place(), source.stamp()
    try:
        if read_stamp(place) == stamp:
            return open_dataset(place)
    except DataError:
        pass  # Not there yet, or damaged: read the source.
    dataset = read(place.with_name(f"{place.stem}-{stamp[:12]}{_UNFINISHED}"))
    try:
        save_dataset(dataset, place, stamp)
        for folder in place.parent.glob(f"{escape(place.stem)}-*{_UNFINISHED}"):
            shutil.rmtree(folder, ignore_errors=True)
        return open_dataset(place)
    except OutputError as error:
        _warn_once(str(place.parent), error.message)
        return dataset


def _plain_files(paths: Iterable[Path]) -> list[Path]:
    found = []
    for path in paths:
        found += sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
    return found


@cache
def _reader_version() -> str:
    """A digest of the code that reads and packs data, and of the RDKit that reads molecules.

    A version number that someone forgot to raise would serve stale graphs; a digest cannot be forgotten.
    """
    try:
        rdkit = importlib.metadata.version("rdkit")
    except importlib.metadata.PackageNotFoundError:
        rdkit = "none"
    return hashlib.sha256(b"\0".join([rdkit.encode(), *(path.read_bytes() for path in reader_files())])).hexdigest()


def reader_files() -> list[Path]:
    """Every file of the code that decides what a packed store contains; a name that leads nowhere is an error."""
    files = []
    for name in _READERS:
        found = importlib.util.find_spec(name)
        if found is None or found.origin is None:
            raise ModuleNotFoundError(f"the packing cache depends on {name}, which does not exist")
        folders = found.submodule_search_locations
        files += sorted(Path(folders[0]).rglob("*.py")) if folders else [Path(found.origin)]
    return files


@cache
def _warn_once(folder: str, reason: str) -> None:
    hint = "Set ADGCL_CACHE to a writable folder."
    warnings.warn(f"Packed data cannot be cached in {folder}: {reason} {hint}", stacklevel=2)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
