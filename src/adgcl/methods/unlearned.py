"""What methods without learning share: no encoder, no steps, and the same rows from every seed."""

from __future__ import annotations

import torch

from adgcl.graphs.store.batch import GraphBatch
from adgcl.methods.base import Method, Metrics


class Unlearned(Method):
    """Rows that are computed, not learned: the honest floor under what networks learn.

    What a subclass has to know of the data it looks up once, in `begin`, and keeps in buffers.
    """

    trains = False
    deterministic = True

    def step(self, batch: GraphBatch, generator: torch.Generator) -> Metrics:
        return {}
