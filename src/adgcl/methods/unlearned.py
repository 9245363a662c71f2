"""What methods without learning share: no encoder, no steps, and the same rows for every seed."""

from __future__ import annotations

import torch

from adgcl.graphs.store.batch import GraphBatch
from adgcl.methods.base import Method, Metrics


class Unlearned(Method):
    """Rows that are computed, not learned: a baseline for what networks learn.

    A subclass looks up what it needs to know about the data once, in `begin`, and keeps it in buffers.
    """

    trains = False
    deterministic = True

    def step(self, batch: GraphBatch, generator: torch.Generator) -> Metrics:
        return {}
