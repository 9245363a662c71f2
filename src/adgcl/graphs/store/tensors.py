"""Arrays in one file in the safetensors format: memory-mapped when opened, with a checksum that shows damage."""

from __future__ import annotations

import hashlib
import json
import math
import mmap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, ClassVar

import numpy as np
import numpy.typing as npt

from adgcl.core.trees import SCHEMA, TreeError, fitted, parse_json

Array = npt.NDArray[Any]

# The format's name of every type that a file may hold, and NumPy's.
DTYPES = {
    "U8": "u1", "U16": "<u2", "U32": "<u4", "U64": "<u8",
    "I8": "i1", "I16": "<i2", "I32": "<i4", "I64": "<i8",
    "F32": "<f4", "F64": "<f8",
}  # fmt: skip
_NAMES = {np.dtype(dtype): name for name, dtype in DTYPES.items()}
_METADATA = "__metadata__"
CHECKSUM = "checksum"
# In place of the checksum while the rest is written, and while it is checked.
_BLANK = "0" * 64
_ALIGNMENT = 8
_LONGEST_HEADER = 1 << 24
_PIECE = 1 << 25


class TensorFileError(ValueError):
    """A file that is not in the format, or damaged."""


@dataclass(frozen=True)
class _Entry:
    """Where an array is in the file, counted from the end of the header, and how to read it."""

    dtype: str
    shape: tuple[int, ...]
    data_offsets: tuple[int, int]

    __pydantic_config__: ClassVar = SCHEMA

    def check(self, name: str, body: int, size: int) -> None:
        """Raise an error unless the array is within a file of `size` bytes whose header ends at `body`."""
        if self.dtype not in DTYPES:
            raise TensorFileError(f"{name} holds values of an unknown type, {self.dtype}")
        (start, end), width = self.data_offsets, np.dtype(DTYPES[self.dtype]).itemsize
        if min(self.shape, default=0) < 0 or end - start != width * math.prod(self.shape):
            raise TensorFileError(f"{end - start} bytes cannot hold {self.shape} values of {name}")
        if not 0 <= start <= end <= size - body:
            raise TensorFileError(f"truncated: {size} bytes, but {name} ends at {body + end}")
        if (body + start) % width:
            raise TensorFileError(f"{name} starts within a number")


@dataclass(frozen=True)
class TensorFile:
    """The header of a file, checked; arrays are read on request."""

    path: Path
    entries: Mapping[str, _Entry]
    metadata: Mapping[str, str]
    body: int

    def array(self, name: str) -> Array:
        """One array, which stays on disk until it is touched."""
        entry = self.entries[name]
        dtype = np.dtype(DTYPES[entry.dtype])
        if 0 in entry.shape:
            return np.empty(entry.shape, dtype)
        return np.asarray(np.memmap(self.path, dtype, "r", self.body + entry.data_offsets[0], entry.shape))

    def is_intact(self) -> bool:
        """Whether the checksum is that of the content; a file of an earlier version has none."""
        known = self.metadata.get(CHECKSUM)
        if known is None:
            return True
        digest = hashlib.sha256()
        with self.path.open("rb") as file:
            head = file.read(self.body)
            digest.update(head.replace(known.encode(), _BLANK.encode(), 1))
            while piece := file.read(_PIECE):
                digest.update(piece)
        return digest.hexdigest() == known


def open_tensors(path: Path) -> TensorFile:
    """Read and check the header of a file."""
    size = path.stat().st_size
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if not 2 <= length <= min(size - 8, _LONGEST_HEADER):
            raise TensorFileError("no header")
        try:
            tree = fitted(dict[str, Any], parse_json(file.read(length)))
            metadata = fitted(dict[str, str], tree.pop(_METADATA, {}))
            entries = fitted(dict[str, _Entry], tree)
        except TreeError as error:
            raise TensorFileError(f"no header: {error}") from error
    for name, entry in entries.items():
        entry.check(name, 8 + length, size)
    return TensorFile(path, entries, metadata, 8 + length)


def write_tensors(path: Path, arrays: Mapping[str, Array], metadata: Mapping[str, str]) -> None:
    """What `safetensors.numpy.save_file` writes, with a checksum, and without a second copy of all arrays in memory."""
    # The widest types first, as in safetensors, so that every array starts at a multiple of its item size.
    order = sorted(arrays, key=lambda name: (-arrays[name].dtype.itemsize, name))
    # The checksum comes first: nothing before it can look like its blank.
    header: dict[str, Any] = {_METADATA: {CHECKSUM: _BLANK, **metadata}}
    end = 0
    for name in order:
        array, start = arrays[name], end
        end += array.nbytes
        header[name] = {"dtype": _NAMES[array.dtype], "shape": list(array.shape), "data_offsets": [start, end]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % _ALIGNMENT)
    head = len(text).to_bytes(8, "little") + text
    digest = hashlib.sha256(head)
    with path.open("wb") as file:
        file.write(head)
        for name in order:
            for piece in _pieces(np.ascontiguousarray(arrays[name])):
                digest.update(piece)
                file.write(piece)
        _fill_in(file, head, digest.hexdigest())


def _fill_in(file: IO[bytes], head: bytes, checksum: str) -> None:
    file.seek(head.index(_BLANK.encode()))
    file.write(checksum.encode())


def _pieces(array: Array) -> Iterator[memoryview]:
    """The bytes of an array piece by piece, releasing the pages of a mapped one, which would all stay resident."""
    flat = array.reshape(-1).view(np.uint8)
    mapping = None if array.flags.writeable else _mapping(array)
    for start in range(0, len(flat), _PIECE):
        yield flat[start : start + _PIECE].data
        if mapping is not None:
            mapping.madvise(mmap.MADV_DONTNEED)


def _mapping(array: Array) -> mmap.mmap | None:
    """The file mapping behind an array, if there is one and the system can release its pages."""
    below: Any = array
    while isinstance(below, np.ndarray):
        below = below.base
    return below if isinstance(below, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED") else None
