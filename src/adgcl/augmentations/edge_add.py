"""Learnable edge adding: a GNN that predicts how likely pairs of nodes are to stay unconnected."""

from __future__ import annotations

import torch
from torch import Tensor

from adgcl.augmentations.base import AUGMENTATIONS, Augmented, mean_over_graphs
from adgcl.augmentations.gates import logistic_noise
from adgcl.augmentations.learnable import EdgeScores
from adgcl.graphs.kernels.added import are_edges
from adgcl.graphs.kernels.ops import rows
from adgcl.graphs.store.batch import GraphBatch
from adgcl.graphs.store.view import AddedEdges, View


@AUGMENTATIONS.register("edge_add")
class EdgeAdd(EdgeScores):
    """Candidates are drawn uniformly among the pairs that are not edges; each is added with weight `1 - p_e`, where
    `p_e = sigmoid((logit_e + noise) / temperature)` and `logit_e = mlp([h_source, h_target])`.

    As with dropping, a high logit leaves the graph unchanged. The regulariser is the mean of the added weights.
    """

    def draw(self, node_emb: Tensor, batch: GraphBatch, generator: torch.Generator) -> Augmented:
        generator = batch.own(generator)
        one, other = candidate_pairs(batch, self.gate.candidates, generator)
        source, target = torch.cat((one, other)), torch.cat((other, one))
        logits, noise = self.pair_logits(node_emb, source, target), self._noise(len(one), generator)
        added = 1 - self.gated(logits, noise)
        ratio = mean_over_graphs(added, rows(batch.batch, source), batch.num_graphs)
        return Augmented(View(added=AddedEdges(source, target, added)), ratio)

    def pair_logits(self, node_emb: Tensor, source: Tensor, target: Tensor) -> Tensor:
        """How much the augmenter wants to leave each pair unconnected; the second half reverses the first."""
        as_source, as_target = self.ends(node_emb).chunk(2, dim=1)
        hidden = (rows(as_source, source) + rows(as_target, target) + self.bias).relu()
        logits: Tensor = self.score(hidden).squeeze(1).float()
        return logits.view(2, -1).mean(0).repeat(2) if self.gate.tied else logits

    def _noise(self, pairs: int, generator: torch.Generator) -> Tensor:
        return logistic_noise(pairs, generator).repeat(2) if self.gate.tied else logistic_noise(2 * pairs, generator)


def candidate_pairs(batch: GraphBatch, share: float, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Unordered pairs of different, unconnected nodes of one graph, each once.

    A graph with E directed edges gets `ceil(share * E / 2)` draws; a draw that is an edge or was drawn before is left
    out, so dense graphs get fewer candidates, and complete or edgeless ones none.
    """
    draws = (batch.edge_counts * (share / 2)).ceil().long() * (batch.node_counts > 1)
    owner = torch.repeat_interleave(draws)
    size = rows(batch.node_counts, owner)
    uniform = torch.rand(2, len(owner), generator=generator, device=generator.device)
    one = _below(size, uniform[0])
    # A step of 1 to size - 1 around the graph's nodes never returns to the same one.
    other = (one + 1 + _below(size - 1, uniform[1])) % size
    start, nodes = rows(batch.node_ptr, owner), batch.num_nodes
    pairs = torch.unique((start + torch.minimum(one, other)) * nodes + start + torch.maximum(one, other))
    low, high = pairs // nodes, pairs % nodes
    free = ~(are_edges(batch, low, high) | are_edges(batch, high, low))
    return low[free], high[free]


def _below(limit: Tensor, uniform: Tensor) -> Tensor:
    """Integers below `limit`, even if a uniform number just below 1 times the limit rounds up to it."""
    return torch.minimum((uniform * limit).long(), limit - 1)
