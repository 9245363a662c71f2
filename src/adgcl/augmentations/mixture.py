"""Mixture: several learnable augmentations at once, on one shared encoder."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn

from adgcl.augmentations.base import AUGMENTATIONS, Augmentation, Augmented
from adgcl.augmentations.gates import GateConfig
from adgcl.augmentations.learnable import Learnable, make_trunk
from adgcl.core.schema import FeatureSpec
from adgcl.encoders.base import EncoderConfig
from adgcl.encoders.heads import initialise
from adgcl.graphs.store.batch import GraphBatch
from adgcl.graphs.store.view import combined


class Mixture(Augmentation):
    """Every part draws from the same node rows, and their Views are combined.

    The encoder is the expensive part of an augmenter; if shared, another augmentation costs little more than its MLP.
    """

    def __init__(self, names: Sequence[str], encoder: EncoderConfig, gate: GateConfig, spec: FeatureSpec) -> None:
        super().__init__()
        self.encoder = make_trunk(encoder, spec)
        initialise(self)
        self.guests = nn.ModuleDict({name: _learnable(name)(encoder, gate, spec, guest=True) for name in names})

    def parts(self, batch: GraphBatch, generator: torch.Generator) -> list[Augmented]:
        """What each augmentation draws, in the order of their names."""
        node_emb = self.encoder.node_emb(batch)
        return [guest.draw(node_emb, batch, generator) for guest in self.guests.values()]  # type: ignore[operator]

    def forward(self, batch: GraphBatch, generator: torch.Generator) -> Augmented:
        """The combined View, and the sum of what its parts drop."""
        views, ratios = zip(*self.parts(batch, generator))
        return Augmented(combined(views), torch.stack(ratios).sum())


def learnable_names() -> list[str]:
    """Every augmentation that an augmenter can use."""
    return [name for name in AUGMENTATIONS if issubclass(AUGMENTATIONS[name], Learnable)]


def checked_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """Reject an empty list, repetitions, and names that are not learnable augmentations."""
    if not names or len(set(names)) < len(names):
        raise ValueError("name each augmentation once, and at least one")
    known = learnable_names()
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(f"there is no learnable {unknown[0]!r}; known: {', '.join(known)}")
    return names


def _learnable(name: str) -> type[Learnable]:
    kind = AUGMENTATIONS[name]
    assert issubclass(kind, Learnable), name
    return kind


def make_augmenter(
    names: Sequence[str], encoder: EncoderConfig, gate: GateConfig, spec: FeatureSpec
) -> Learnable | Mixture:
    """One augmentation by its name, or a Mixture of several."""
    if len(names) == 1:
        return _learnable(names[0])(encoder, gate, spec)
    return Mixture(names, encoder, gate, spec)
