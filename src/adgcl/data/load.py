"""`load_dataset`: a known name, a file, a folder, or graphs in memory, as a Dataset."""

from __future__ import annotations

import difflib
import inspect
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from adgcl.core.errors import ConfigError, DataError, UnknownNameError, did_you_mean
from adgcl.core.progress import Progress
from adgcl.data import catalog
from adgcl.data.cache import RawData, cached
from adgcl.data.dataset import Dataset
from adgcl.data.entry import Entry
from adgcl.data.features import MODES, choose_features
from adgcl.data.fetch.folder import data_folder
from adgcl.data.fetch.prepare import bring, missing
from adgcl.data.own import as_option, check_options, from_objects, named_progress, refuse
from adgcl.data.packed import open_dataset
from adgcl.data.text.open_table import TABLE_SUFFIXES
from adgcl.data.text.tu_files import is_tu_folder
from adgcl.data.text.tu_format import load_tu
from adgcl.graphs.store.storage import SUFFIX, is_store

_OTHER_SHEETS = (".xls", ".xlsb", ".ods")
_WHAT = (
    "Give a known name, a file of molecules (.csv, .tsv, .smi, .xlsx, .sdf), a TU-format folder or zip, or a "
    "packed .graphs file."
)


def load_dataset(
    data: Any,
    *,
    data_dir: str | Path | None = None,
    features: str = "labels",
    degree_cap: int = 100,
    atom_features: str | None = None,
    cache: bool = True,
    progress: Progress | None = None,
    **options: Any,
) -> Dataset:
    """Load graphs from almost anything.

    `data` is the name of a known data set (looked up before files: write `./MUTAG` for your own folder); the
    path of a file of molecules (CSV, TSV, .smi, .xlsx, .sdf), a TU-format folder or zip file, or a packed
    `.graphs` file; or a Dataset, a GraphStore, or a list of SMILES or RDKit Mols, of PyTorch Geometric or of NetworkX
    graphs.

    `features` says which features nodes and edges have (see `choose_features`), `atom_features` how SMILES become
    graphs (`ogb` or `hu`). Further options go to the reader of tables, SMILES or graphs. Known sets and files
    are packed once and kept in the cache folder.
    """
    if features not in MODES:
        raise UnknownNameError("choice of features", features, MODES)
    if isinstance(data, str | os.PathLike):
        dataset = _Reader(atom_features, cache, progress, options).read(data, data_folder(data_dir))
    else:
        dataset = from_objects(data, atom_features, progress, options)
    store = choose_features(dataset.store, features, degree_cap)
    return dataset if store is dataset.store else dataset.with_store(store)


def prepare(name: str, data_dir: str | Path | None = None, progress: Progress | None = None) -> Dataset:
    """Download a known data set if it is not here, and pack it."""
    entry = catalog.find_entry(name)
    bring(entry, data_folder(data_dir), progress)
    return load_dataset(entry.name, data_dir=data_dir, progress=progress)


class _Reader:
    """Reads names and paths, from the cache if possible."""

    def __init__(
        self, atom_features: str | None, cache: bool, progress: Progress | None, options: dict[str, Any]
    ) -> None:
        self.atom_features, self.cache, self.progress, self.options = atom_features, cache, progress, options

    def read(self, data: str | os.PathLike[str], folder: Path) -> Dataset:
        if isinstance(data, str) and catalog.is_known(data):
            return self._entry(catalog.find_entry(data), folder)
        path = Path(data).expanduser()
        if not os.path.exists(path):
            raise _not_found(data, path)
        name = path.name.lower().removesuffix(".gz")
        if path.is_file() and name.endswith(TABLE_SUFFIXES):
            return self._table(path)
        if name.endswith(_OTHER_SHEETS):
            raise DataError(f"{path} is a spreadsheet format that cannot be read.", "Save it as .xlsx or as CSV.")
        refuse(self.options, self.atom_features, str(path))
        if is_tu_folder(path) or name.endswith(".zip") or (path.is_file() and zipfile.is_zipfile(path)):
            return self._kept(RawData(path.stem, (path,)), lambda place: load_tu(path))
        if path.suffix == SUFFIX or (path.is_file() and is_store(path)):
            return open_dataset(path)
        raise DataError(f"{path} cannot be read as graphs.", _WHAT)

    def _entry(self, entry: Entry, folder: Path) -> Dataset:
        refuse(self.options, None, entry.name)
        if not entry.is_here(folder):
            raise missing(entry, folder)
        files = [next(folder / path for path in choice if (folder / path).exists()) for choice in entry.files]
        asked = as_option(self.atom_features)
        known = inspect.signature(entry.load).parameters
        if asked and "features" not in known:
            raise ConfigError(f"{entry.name} has its own features.", "Leave out atom_features.")
        extra: dict[str, Any] = dict(asked)
        if self.progress is not None and "progress" in known:
            extra["progress"] = named_progress(self.progress, f"read {entry.name}")
        source = RawData(entry.name, tuple(files), {"name": entry.name, **asked})
        resumes = "unfinished" in known
        return self._kept(
            source, lambda place: entry.load(folder, **extra, **({"unfinished": place} if resumes else {}))
        )

    def _table(self, path: Path) -> Dataset:
        from adgcl.data.text.smiles_table import load_smiles_table

        options = self.options | as_option(self.atom_features)
        check_options(load_smiles_table, options)
        report = named_progress(self.progress, f"read {path.name}")
        # The number of processes makes no difference to what is read.
        source = RawData(path.name, (path,), {k: v for k, v in options.items() if k != "workers"})
        return self._kept(source, lambda place: load_smiles_table(path, progress=report, unfinished=place, **options))

    def _kept(self, source: RawData, read: Callable[[Path | None], Dataset]) -> Dataset:
        return cached(source, read) if self.cache and source.files else read(None)


def _not_found(data: str | os.PathLike[str], path: Path) -> DataError:
    """Nothing has this name: suggest similar files if it looks like a path, else similar known names."""
    if path.parent != Path(".") or path.suffix.lower() in (*TABLE_SUFFIXES, ".zip", ".gz", SUFFIX):
        near = difflib.get_close_matches(path.name, _names_in(path.parent), n=3)
        hint = "Did you mean " + " or ".join(near) + "?" if near else _WHAT
        return DataError(f"There is no file {path}.", hint)
    hint = did_you_mean(str(data), catalog.known_names())
    return DataError(f"There is no data set or file called {os.fspath(data)!r}.", hint)


def _names_in(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []
