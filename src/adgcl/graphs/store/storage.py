"""A GraphStore as one safetensors file, memory-mapped when it is opened."""

from __future__ import annotations

import json
import math
import mmap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from adgcl.core.errors import DataError
from adgcl.core.files import atomic_write
from adgcl.core.schema import FeatureSpec, Task
from adgcl.graphs.store.ranges import offsets
from adgcl.graphs.store.store import GraphStore

FORMAT = "adgcl-store-1"
SUFFIX = ".graphs"
_PACK_AGAIN = "Pack the data again with `adgcl data prepare`."
_EXTRA = "extra."
_ARRAYS = (
    "node_ptr", "edge_ptr", "in_degree", "edge_source", "edge_reverse",
    "x", "x_num", "edge_attr", "edge_num", "y",
)  # fmt: skip


class PackedStrings(Sequence[str]):
    """Strings kept as one byte array with offsets, so that a million names are not a million objects."""

    def __init__(self, text: npt.NDArray[np.uint8], ends: npt.NDArray[np.int64]) -> None:
        self.text, self.ends = text, ends

    @classmethod
    def of(cls, strings: Sequence[str]) -> PackedStrings:
        if isinstance(strings, PackedStrings):
            return strings
        encoded = [str(s).encode() for s in strings]
        text = np.frombuffer(b"".join(encoded), dtype=np.uint8)
        return cls(text, offsets(np.fromiter(map(len, encoded), dtype=np.int64, count=len(encoded))))

    def __len__(self) -> int:
        return len(self.ends) - 1

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if index < 0:
            index += len(self)
        if not 0 <= index < len(self):
            raise IndexError(index)
        return self.text[self.ends[index] : self.ends[index + 1]].tobytes().decode()

    def __iter__(self) -> Iterator[str]:
        return (self[i] for i in range(len(self)))


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


def open_store(path: Path) -> GraphStore:
    """Open a packed store; arrays stay on disk until they are touched."""
    arrays, metadata = _map_file(Path(path))
    ids = PackedStrings(arrays.pop("ids_text"), arrays.pop("ids_ends")) if "ids_ends" in arrays else None
    try:
        # The two pointer arrays are read for every batch, so they are kept in memory (16 bytes per graph).
        arrays["node_ptr"], arrays["edge_ptr"] = np.array(arrays["node_ptr"]), np.array(arrays["edge_ptr"])
        store = GraphStore(
            **{name: arrays.get(name) for name in _ARRAYS},  # type: ignore[arg-type]
            ids=ids,
            spec=FeatureSpec.from_json(json.loads(metadata["spec"])),
            task=Task.from_json(json.loads(metadata["task"])),
        )
        sound = _is_sound(store)
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise DataError(f"{path} is damaged.", _PACK_AGAIN) from error
    if not sound:
        raise DataError(f"{path} is damaged: its arrays do not fit together.", _PACK_AGAIN)
    return store


def read_notes(path: Path) -> dict[str, Any]:
    """The notes that were saved with a store."""
    _, metadata = _read_header(Path(path))
    notes: dict[str, Any] = json.loads(metadata.get("notes", "{}"))
    return notes


def read_extra(path: Path) -> dict[str, npt.NDArray[Any]]:
    """The extra arrays that were saved with a store, memory-mapped."""
    header, _ = _read_header(Path(path))
    return {n.removeprefix(_EXTRA): _map_array(path, e) for n, e in header.items() if n.startswith(_EXTRA)}


def is_store(path: Path) -> bool:
    """Whether `path` is a packed store of this format."""
    try:
        _read_header(Path(path))
    except DataError:
        return False
    return True


def _read_header(path: Path) -> tuple[dict[str, Any], dict[str, str]]:
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if not 2 <= length <= min(size, 1 << 24):
                raise DataError(f"{path} is not a packed graph store.", _PACK_AGAIN)
            header = json.loads(file.read(length))
    except OSError as error:
        raise DataError(f"Cannot open {path}: {error.strerror}.", "Check the path.") from error
    except ValueError as error:
        raise DataError(f"{path} is not a packed graph store.", _PACK_AGAIN) from error
    metadata = header.pop("__metadata__", {}) if isinstance(header, dict) else {}
    if metadata.get("format") != FORMAT:
        raise DataError(f"{path} is not a packed graph store of format {FORMAT}.", _PACK_AGAIN)
    end = max((entry["data_offsets"][1] for entry in header.values()), default=0)
    if size < 8 + length + end:
        raise DataError(f"{path} is truncated: {size} bytes of {8 + length + end}.", _PACK_AGAIN)
    return {name: {**entry, "base": 8 + length} for name, entry in header.items()}, metadata


def _map_file(path: Path) -> tuple[dict[str, npt.NDArray[Any]], dict[str, str]]:
    header, metadata = _read_header(path)
    return {name: _map_array(path, entry) for name, entry in header.items()}, metadata


def _is_sound(store: GraphStore) -> bool:
    """Whether the arrays have the lengths that the pointers promise."""
    nodes, edges = int(store.node_ptr[-1]), int(store.edge_ptr[-1])
    lengths: list[tuple[Any, int]] = [(store.in_degree, nodes), (store.x, nodes), (store.x_num, nodes)]
    lengths += [(a, edges) for a in (store.edge_source, store.edge_reverse, store.edge_attr, store.edge_num)]
    lengths += [(store.y, len(store)), (store.ids, len(store))]
    steps = (store.node_counts >= 1).all() and (store.edge_counts >= 0).all()
    first = len(store.node_ptr) == len(store.edge_ptr) and store.node_ptr[0] == store.edge_ptr[0] == 0
    return bool(steps and first) and all(array is None or len(array) == count for array, count in lengths)


def _map_array(path: Path, entry: dict[str, Any]) -> npt.NDArray[Any]:
    if entry["dtype"] not in DTYPES:
        raise DataError(f"{path} holds values of an unknown type, {entry['dtype']}.", _PACK_AGAIN)
    dtype, shape = np.dtype(DTYPES[entry["dtype"]]), tuple(entry["shape"])
    start, end = entry["data_offsets"]
    if end - start != dtype.itemsize * math.prod(shape):
        raise DataError(f"{path} is damaged: {end - start} bytes cannot hold {shape} values.", _PACK_AGAIN)
    if 0 in shape:
        return np.empty(shape, dtype)
    mapped = np.memmap(path, dtype, "r", offset=entry["base"] + start, shape=shape)
    return np.asarray(mapped)


Array = npt.NDArray[Any]

# The format's name of every type that a store may hold, and NumPy's.
DTYPES = {
    "U8": "u1", "U16": "<u2", "U32": "<u4", "U64": "<u8",
    "I8": "i1", "I16": "<i2", "I32": "<i4", "I64": "<i8",
    "F32": "<f4", "F64": "<f8",
}  # fmt: skip
_NAMES = {np.dtype(dtype): name for name, dtype in DTYPES.items()}
_ALIGNMENT = 8
_PIECE = 1 << 25


def write_tensors(path: Path, arrays: Mapping[str, Array], metadata: Mapping[str, str]) -> None:
    """What `safetensors.numpy.save_file` writes, without its second copy of all arrays in memory."""
    # The widest types first, as in safetensors, so that every array starts at a multiple of its item size.
    order = sorted(arrays, key=lambda name: (-arrays[name].dtype.itemsize, name))
    header: dict[str, Any] = {"__metadata__": dict(metadata)}
    end = 0
    for name in order:
        array, start = arrays[name], end
        end += array.nbytes
        header[name] = {"dtype": _NAMES[array.dtype], "shape": list(array.shape), "data_offsets": [start, end]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % _ALIGNMENT)
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little"))
        file.write(text)
        for name in order:
            _write(file, np.ascontiguousarray(arrays[name]))


def _write(file: IO[bytes], array: Array) -> None:
    """Write an array piece by piece, releasing the pages of a mapped one, which would all stay resident."""
    flat = array.reshape(-1).view(np.uint8)
    mapping = None if array.flags.writeable else _mapping(array)
    for start in range(0, len(flat), _PIECE):
        file.write(flat[start : start + _PIECE].data)
        if mapping is not None:
            mapping.madvise(mmap.MADV_DONTNEED)


def _mapping(array: Array) -> mmap.mmap | None:
    """The file mapping behind an array, if there is one and the system can release its pages."""
    below: Any = array
    while isinstance(below, np.ndarray):
        below = below.base
    return below if isinstance(below, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED") else None
