"""View: what an Augmentation changes about a batch of graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import torch
from torch import Tensor


@dataclass(frozen=True)
class AddedEdges:
    """Edges that a batch does not have: `source [A]` and `target [A]` are node positions in the batch (64 bits),
    `keep [A]` their weights.

    An added edge carries no features. Where messages carry edge features (GINE), its embedding is the zero row: the
    message is `keep * relu(h_source)`.
    """

    source: Tensor
    target: Tensor
    keep: Tensor


@dataclass(frozen=True)
class View:
    """Keep weights between 0 (gone) and 1 (untouched); None means that nothing of the kind is changed.

    `edge_keep [E]` weighs messages. `node_keep [N]` weighs the messages a node sends, its share of the readout and its
    share of the statistics that normalise; at 0 everything is as if the graph never had the node (its own row is then
    meaningless), and a graph that lost all its nodes reads out as zeros. `feature_keep [N]` fades a node's own features
    to a learned mask. `added` are new edges, each with its own weight.
    """

    edge_keep: Tensor | None = None
    node_keep: Tensor | None = None
    feature_keep: Tensor | None = None
    added: AddedEdges | None = None

    @property
    def unchanged(self) -> bool:
        """Whether this leaves the batch unchanged."""
        return self.edge_keep is None and self.node_keep is None and self.starts_unchanged

    @property
    def starts_unchanged(self) -> bool:
        """Whether equal nodes of the batch still have equal features and messages, even if weighted differently."""
        return self.feature_keep is None and self.added is None


def combined(views: Sequence[View]) -> View:
    """All changes at once: weights of the same kind multiply, added edges are concatenated."""
    return reduce(_both, views)


def _both(one: View, other: View) -> View:
    return View(
        edge_keep=_product(one.edge_keep, other.edge_keep),
        node_keep=_product(one.node_keep, other.node_keep),
        feature_keep=_product(one.feature_keep, other.feature_keep),
        added=_side_by_side(one.added, other.added),
    )


def _product(one: Tensor | None, other: Tensor | None) -> Tensor | None:
    if one is None or other is None:
        return other if one is None else one
    return one * other


def _side_by_side(one: AddedEdges | None, other: AddedEdges | None) -> AddedEdges | None:
    if one is None or other is None:
        return other if one is None else one
    return AddedEdges(
        torch.cat((one.source, other.source)), torch.cat((one.target, other.target)), torch.cat((one.keep, other.keep))
    )
