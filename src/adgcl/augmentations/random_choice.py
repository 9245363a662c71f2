"""One of several fixed augmentations for each graph, drawn at random."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from adgcl.augmentations.base import Augmentation, Augmented
from adgcl.augmentations.random_base import FIXED, RandomConfig, edges_gone
from adgcl.graphs.store.batch import GraphBatch
from adgcl.graphs.store.view import View, combined
from adgcl.parallel.collectives import anywhere


class RandomChoice(Augmentation):
    """A pool of fixed augmentations; every graph of a batch gets one of them."""

    def __init__(self, pool: Sequence[str], config: RandomConfig) -> None:
        super().__init__()
        self.pool = nn.ModuleList(FIXED[name](config) for name in pool)

    def forward(self, batch: GraphBatch, generator: torch.Generator) -> Augmented:
        """With equal probability."""
        same = torch.ones(len(self.pool), device=batch.device)
        view = self.view(batch, choices(same, batch, generator), generator)
        return Augmented(view, edges_gone(view, batch))

    def view(self, batch: GraphBatch, choice: Tensor, generator: torch.Generator) -> View:
        """A View in which graph g is changed by augmentation number `choice[g]`."""
        drawn = anywhere(torch.bincount(choice, minlength=len(self.pool)) > 0).nonzero().flatten().tolist()
        return combined([self.pool[number].view(batch, choice == number, generator) for number in drawn])


def checked_pool(pool: tuple[str, ...]) -> tuple[str, ...]:
    """Reject an empty pool, unknown names and repetitions."""
    if not pool or len(set(pool)) < len(pool):
        raise ValueError("name each augmentation once, and at least one")
    unknown = [name for name in pool if name not in FIXED]
    if unknown:
        raise ValueError(f"there is no {unknown[0]!r}; known: {', '.join(FIXED)}")
    return pool


def choices(weights: Tensor, batch: GraphBatch, generator: torch.Generator) -> Tensor:
    """A number for every graph, drawn with probabilities proportional to `weights`."""
    return batch.drawn("graphs", lambda count: torch.multinomial(weights, count, replacement=True, generator=generator))
