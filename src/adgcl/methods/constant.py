"""A constant guess: the same row for every graph, so a probe can only answer with the commonest label or the mean."""

from __future__ import annotations

import torch
from torch import Tensor

from adgcl.graphs.store.batch import GraphBatch
from adgcl.methods.base import METHODS, MethodConfig
from adgcl.methods.unlearned import Unlearned


class ConstantConfig(MethodConfig):
    """There is nothing to set."""

    name: str = "constant"


@METHODS.register("constant")
class Constant(Unlearned):
    """`0` for every graph: the score below which an embedding says nothing about the labels."""

    Config = ConstantConfig
    title = "constant guess"
    config: ConstantConfig

    @property
    def width(self) -> int:
        return 1

    def embed(self, batch: GraphBatch) -> Tensor:
        return torch.zeros(batch.num_graphs, 1, device=batch.device)
