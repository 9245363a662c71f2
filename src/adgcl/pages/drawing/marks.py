"""Marks on bonds: what a picture shows about each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from adgcl.insight.bonds import Floats
from adgcl.pages.drawing.scale import step


@dataclass(frozen=True)
class Mark:
    """A bond's colour: by its value, and by its rank among the bonds of the graph; `note` is shown on hover."""

    value: int
    rank: int
    note: str


def marks_of(values: Floats, notes: Sequence[str], top: float = 1.0) -> list[Mark]:
    """A mark for each bond, with `top` as the value at the end of the scale; equal values have the same rank."""
    if len(values) == 0:
        return []
    lower = np.searchsorted(np.sort(values), values, side="left")
    upper = np.searchsorted(np.sort(values), values, side="right") - 1
    rank = (lower + upper) / 2 / max(len(values) - 1, 1) if len(values) > 1 else np.full(1, 0.5)
    scaled = values / top if top else values
    return [Mark(step(v), step(r), note) for v, r, note in zip(scaled.tolist(), rank.tolist(), notes, strict=True)]
