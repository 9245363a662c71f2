"""Numbers as text inside a page: little-endian bytes in base64, which a script reads without parsing."""

from __future__ import annotations

import base64
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from adgcl.insight.projection import Plane

_TOP = 65535


def base64_of(array: npt.NDArray[np.generic]) -> str:
    """An array as it lies in memory."""
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()


def plane(points: Plane) -> str:
    """Points within a square, as pairs of 16-bit numbers; the longer side of the plane fills it."""
    low, high = points.min(axis=0), points.max(axis=0)
    side = float(max((high - low).max(), 1e-9))
    inside = (points - (low + high) / 2) / side + 0.5
    return base64_of(np.rint(np.clip(inside, 0, 1) * _TOP).astype("<u2"))


def joined(pictures: Sequence[bytes]) -> dict[str, str]:
    """Pictures one after another, and where each begins."""
    starts = np.cumsum([0, *map(len, pictures)])
    return {"bytes": base64.b64encode(b"".join(pictures)).decode(), "starts": base64_of(starts.astype("<u4"))}
