"""Fixed augmentations of nodes: drop some, hide the features of some, or none."""

from __future__ import annotations

import torch
from torch import Tensor

from adgcl.augmentations.random_base import FIXED, RandomAugmentation, drawn_nodes, share
from adgcl.graphs.store.batch import GraphBatch
from adgcl.graphs.store.view import View


@FIXED.register("random_node_drop")
class RandomNodeDrop(RandomAugmentation):
    """Drop exactly `floor(ratio * N)` of a graph's N nodes, uniformly, with their edges."""

    def view(self, batch: GraphBatch, chosen: Tensor, generator: torch.Generator) -> View:
        counts = share(batch.node_counts, self.config.ratio, chosen)
        return View(node_keep=1.0 - drawn_nodes(batch, counts, generator).float())


@FIXED.register("random_feature_mask")
class RandomFeatureMask(RandomAugmentation):
    """Hide the features of exactly `floor(ratio * N)` of a graph's N nodes behind a learned mask.

    Deviation: GraphCL's unsupervised code replaces them with normal noise of mean and deviation 0.5, which only fits
    one-hot columns.
    """

    def view(self, batch: GraphBatch, chosen: Tensor, generator: torch.Generator) -> View:
        counts = share(batch.node_counts, self.config.ratio, chosen)
        return View(feature_keep=1.0 - drawn_nodes(batch, counts, generator).float())


@FIXED.register("identity")
class Identity(RandomAugmentation):
    """Change nothing."""

    def view(self, batch: GraphBatch, chosen: Tensor, generator: torch.Generator) -> View:
        return View()
