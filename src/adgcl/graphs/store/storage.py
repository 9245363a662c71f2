"""A GraphStore as one safetensors file, memory-mapped when it is opened, and checked before it is used."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from adgcl.core.errors import DataError
from adgcl.core.files import atomic_write
from adgcl.core.schema import FeatureSpec, Task
from adgcl.core.trees import TreeError, fitted, parse_json
from adgcl.graphs.store.soundness import fault
from adgcl.graphs.store.store import GraphStore
from adgcl.graphs.store.strings import PackedStrings
from adgcl.graphs.store.tensors import TensorFile, TensorFileError, open_tensors, write_tensors

FORMAT = "adgcl-store-1"
SUFFIX = ".graphs"
_PACK_AGAIN = "Pack the data again with `adgcl data prepare`."
_EXTRA = "extra."
_ARRAYS = (
    "node_ptr", "edge_ptr", "in_degree", "edge_source", "edge_reverse",
    "x", "x_num", "edge_attr", "edge_num", "y",
)  # fmt: skip


def save_store(
    store: GraphStore,
    path: Path,
    notes: dict[str, Any] | None = None,
    extra: dict[str, npt.NDArray[Any]] | None = None,
) -> None:
    """Write `store` to `path` in one atomic step; `notes` (JSON) and `extra` arrays are kept with it."""
    arrays = {_EXTRA + name: np.ascontiguousarray(array) for name, array in (extra or {}).items()}
    arrays |= {name: np.ascontiguousarray(a) for name in _ARRAYS if (a := getattr(store, name)) is not None}
    if store.ids is not None:
        packed = PackedStrings.of(store.ids)
        arrays |= {"ids_text": packed.text, "ids_ends": packed.ends}
    metadata = {
        "format": FORMAT,
        "spec": json.dumps(store.spec.to_json()),
        "task": json.dumps(store.task.to_json()),
        "notes": json.dumps(notes or {}),
    }
    atomic_write(Path(path), lambda part: write_tensors(part, arrays, metadata))


def open_store(path: Path, trusted: bool = False) -> GraphStore:
    """Open a packed store; arrays stay on disk until they are touched.

    Everything in it is checked, which reads the whole file, unless it is `trusted`: checked before, unchanged since.
    """
    file = _open(Path(path))
    with _explained(file.path):
        if not trusted and not file.is_intact():
            raise TensorFileError("its content does not match its checksum")
        arrays = {name: file.array(name) for name in file.entries}
        ids = PackedStrings(arrays["ids_text"], arrays["ids_ends"]) if "ids_ends" in arrays else None
        # The two pointer arrays are read for every batch, so they are kept in memory (16 bytes per graph).
        arrays["node_ptr"], arrays["edge_ptr"] = np.array(arrays["node_ptr"]), np.array(arrays["edge_ptr"])
        spec, task = (parse_json(file.metadata[name]) for name in ("spec", "task"))
        store = GraphStore(
            node_ptr=arrays["node_ptr"],
            edge_ptr=arrays["edge_ptr"],
            in_degree=arrays["in_degree"],
            edge_source=arrays["edge_source"],
            **{name: arrays.get(name) for name in _ARRAYS[4:]},  # type: ignore[arg-type]
            ids=ids,
            spec=FeatureSpec.from_json(spec),
            task=Task.from_json(task),
        )
        if not trusted and (wrong := fault(store)):
            raise TensorFileError(wrong)
    return store


def read_notes(path: Path) -> dict[str, Any]:
    """The notes that were saved with a store."""
    file = _open(Path(path))
    with _explained(file.path):
        return fitted(dict[str, Any], parse_json(file.metadata.get("notes", "{}")))


def read_extra(path: Path) -> dict[str, npt.NDArray[Any]]:
    """The extra arrays that were saved with a store, memory-mapped."""
    file = _open(Path(path))
    return {name.removeprefix(_EXTRA): file.array(name) for name in file.entries if name.startswith(_EXTRA)}


def is_store(path: Path) -> bool:
    """Whether `path` is a packed store of this format."""
    try:
        _open(Path(path))
    except DataError:
        return False
    return True


def damaged(path: Path, what: object = "") -> DataError:
    """The error that a packed file is not as it was written."""
    return DataError(f"{path} is damaged{f': {what}' if str(what) else ''}.", _PACK_AGAIN)


def _open(path: Path) -> TensorFile:
    try:
        file = open_tensors(path)
    except OSError as error:
        raise DataError(f"Cannot open {path}: {error.strerror}.", "Check the path.") from error
    except TensorFileError as error:
        if str(error).startswith("no header"):
            raise DataError(f"{path} is not a packed graph store.", _PACK_AGAIN) from error
        raise damaged(path, error) from error
    if file.metadata.get("format") != FORMAT:
        raise DataError(f"{path} is not a packed graph store of format {FORMAT}.", _PACK_AGAIN)
    return file


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except KeyError as error:
        raise damaged(path, f"{error.args[0]} is missing") from error
    except (TreeError, TensorFileError) as error:
        raise damaged(path, error) from error
