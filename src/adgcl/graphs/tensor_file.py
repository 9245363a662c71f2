"""Writing safetensors files array by array, straight from memory or from another mapped file."""

from __future__ import annotations

import json
import mmap
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

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
    # The widest types first, as safetensors has it: then every array starts at a multiple of its item size.
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
    """Write an array piece by piece, and let go of the pages of a mapped one: they would all stay resident."""
    flat = array.reshape(-1).view(np.uint8)
    mapping = None if array.flags.writeable else _mapping(array)
    for start in range(0, len(flat), _PIECE):
        file.write(flat[start : start + _PIECE].data)
        if mapping is not None:
            mapping.madvise(mmap.MADV_DONTNEED)


def _mapping(array: Array) -> mmap.mmap | None:
    """The file mapping below an array, where there is one and the system can be told what is no longer needed."""
    below: Any = array
    while isinstance(below, np.ndarray):
        below = below.base
    return below if isinstance(below, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED") else None
