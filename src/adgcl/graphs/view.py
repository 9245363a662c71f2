"""View: what an Augmentation changes about a batch of graphs."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class View:
    """Keep weights between 0 (gone) and 1 (untouched); None means that nothing of the kind is changed.

    `edge_keep [E]` weighs messages, `node_keep [N]` weighs a node's messages and its share of the readout,
    `feature_keep [N]` fades a node's own features to a learned mask.
    """

    edge_keep: Tensor | None = None
    node_keep: Tensor | None = None
    feature_keep: Tensor | None = None
