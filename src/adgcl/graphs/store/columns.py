"""A column joined piece by piece; a long one goes to a temporary file, so that memory stays bounded."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from adgcl.core.files import explain_os_errors

Array = npt.NDArray[Any]

# A column keeps this many bytes in memory before writing to its file.
_IN_MEMORY = 1 << 25


class GrowingColumn:
    """Arrays to be concatenated, in the type that holds them all."""

    def __init__(self) -> None:
        self._pieces: list[Array] = []
        self._spilled: _Spilled | None = None
        self._lacking = False

    def append(self, piece: Array | None) -> None:
        """Add a piece; if any piece is missing (None), the whole column is."""
        if piece is None or self._lacking:
            self._pieces, self._spilled, self._lacking = [], None, True
            return
        self._pieces.append(piece)
        if sum(waiting.nbytes for waiting in self._pieces) > _IN_MEMORY:
            self._spill()

    def whole(self) -> Array | None:
        """All pieces as one array: in memory if they are few, else mapped from the file."""
        if self._lacking:
            return None
        if self._spilled is None:
            return np.concatenate(self._pieces)
        if self._pieces:
            self._spill()
        return self._spilled.mapped()

    def _spill(self) -> None:
        joined = np.concatenate(self._pieces)
        self._pieces = []
        if self._spilled is None:
            self._spilled = _Spilled(joined.shape[1:], joined.dtype)
        wider = np.promote_types(self._spilled.dtype, joined.dtype)
        if wider != self._spilled.dtype:
            self._spilled = self._spilled.widened(wider)
        self._spilled.write(joined)


class _Spilled:
    """Rows in a nameless temporary file."""

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.shape, self.dtype, self.rows = shape, dtype, 0
        with explain_os_errors(Path(tempfile.gettempdir())):
            self.file: IO[bytes] = tempfile.TemporaryFile(prefix="adgcl-")  # noqa: SIM115

    def write(self, rows: Array) -> None:
        with explain_os_errors(Path(tempfile.gettempdir())):
            self.file.write(np.ascontiguousarray(rows, dtype=self.dtype).data)
        self.rows += len(rows)

    def mapped(self) -> Array:
        """The rows, still on disk; the file is deleted with the last array that uses it."""
        with explain_os_errors(Path(tempfile.gettempdir())):
            self.file.flush()
        return np.asarray(np.memmap(self.file, self.dtype, "r", shape=(self.rows, *self.shape)))

    def widened(self, dtype: np.dtype[Any]) -> _Spilled:
        """The same rows in a wider type; types only grow, so this happens two or three times at most."""
        other, old = _Spilled(self.shape, dtype), self.mapped()
        step = max(1, _IN_MEMORY * len(old) // max(old.nbytes, 1))
        for start in range(0, len(old), step):
            other.write(old[start : start + step])
        return other
