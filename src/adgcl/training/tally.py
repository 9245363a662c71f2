"""Tally: the metrics of an epoch added up, with as few waits for the device as possible."""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch import Tensor

# On a device with its own queue, reading a number waits for all work before it: read only this often.
_STEPS_BETWEEN_LOOKS = 20


class NotFinite(Exception):
    """A metric became NaN or infinite."""

    def __init__(self, name: str, value: float) -> None:
        super().__init__(f"{name} became {value}")


class Tally:
    """Sums of metrics weighted by graphs; `latest` holds the values that were last read."""

    def __init__(self, device: torch.device, sums: Mapping[str, float] | None = None) -> None:
        self._here = device.type == "cpu"
        self._sums: dict[str, float] = dict(sums or {})
        self._waiting: list[tuple[Mapping[str, Tensor], int]] = []
        self.latest: dict[str, float] = {}

    def add(self, metrics: Mapping[str, Tensor], graphs: int) -> None:
        """Add the metrics of one step."""
        self._waiting.append((metrics, graphs))
        if self._here or len(self._waiting) >= _STEPS_BETWEEN_LOOKS:
            self._look()

    @property
    def sums(self) -> dict[str, float]:
        """Everything so far, as numbers."""
        self._look()
        return self._sums

    def _look(self) -> None:
        waiting, self._waiting = self._waiting, []
        for metrics, graphs in waiting:
            self.latest = {name: float(value) for name, value in metrics.items()}
            for name, value in self.latest.items():
                if not math.isfinite(value):
                    raise NotFinite(name, value)
                self._sums[name] = self._sums.get(name, 0.0) + value * graphs
