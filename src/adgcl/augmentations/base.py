"""Augmentation: graphs -> a View of them, drawn at random; learnable or fixed."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from adgcl.core.registry import Registry
from adgcl.graphs.kernels.ops import rows
from adgcl.graphs.store.batch import GraphBatch
from adgcl.graphs.store.view import View
from adgcl.parallel.collectives import average


class Augmented(NamedTuple):
    """A View, and how much of each graph it drops (or adds) on average: the paper's regulariser."""

    view: View
    drop_ratio: Tensor


class Augmentation(nn.Module):
    """Draws Views. A learnable one has parameters, and its `drop_ratio` has a gradient."""

    def forward(self, batch: GraphBatch, generator: torch.Generator) -> Augmented:
        raise TypeError(f"{type(self).__name__} must define forward")


def mean_over_graphs(values: Tensor, owner: Tensor, num_graphs: int) -> Tensor:
    """The mean of `values [items]` over the items of each graph, then over the graphs that have any; else 0."""
    counts = torch.bincount(owner, minlength=num_graphs)
    share = 1.0 / (counts * average((counts > 0).sum()))
    return torch.dot(values, rows(share, owner))


AUGMENTATIONS: Registry[type[Augmentation]] = Registry("augmentation", "adgcl.augmentations")
