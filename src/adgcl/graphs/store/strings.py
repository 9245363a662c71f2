"""Strings kept as one byte array with offsets, so that a million names are not a million objects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from adgcl.graphs.store.ranges import offsets

_WITHIN_CHARACTER = 0b10  # the first two bits of every byte of a UTF-8 character except its first


class PackedStrings(Sequence[str]):
    """Any number of strings in two arrays: their bytes, and where each one ends."""

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

    def is_sound(self) -> bool:
        """Whether every string can be read: the ends ascend over the whole text, and none is inside a character."""
        text, ends = self.text, self.ends
        if text.dtype != np.uint8 or ends.dtype != np.int64 or text.ndim != 1 or ends.ndim != 1 or not len(ends):
            return False
        if ends[0] != 0 or ends[-1] != len(text) or (np.diff(ends) < 0).any():
            return False
        inner = ends[(ends > 0) & (ends < len(text))]
        if (text[inner] >> 6 == _WITHIN_CHARACTER).any():
            return False
        try:
            text.tobytes().decode()
        except UnicodeDecodeError:
            return False
        return True
