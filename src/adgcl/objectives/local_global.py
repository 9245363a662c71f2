"""Local-global mutual information: every node of a batch against every graph (InfoGraph, Sun et al. 2020)."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from adgcl.parallel.collectives import average_count, part_of_mean, with_negatives


def local_global(z_node: Tensor, z_graph: Tensor, batch: Tensor) -> Tensor:
    """`E_neg[softplus(s) - log 2] - E_pos[log 2 - softplus(-s)]` with `s_ij = <z_node_i, z_graph_j>`.

    Minus the Jensen-Shannon estimate of the mutual information between nodes and graphs. `batch [N]` says which graph
    a node belongs to: that pair is positive, its pairs with all other graphs are negative. Uninformative scores
    (all 0) give 0, perfect ones -2 log 2. One graph has no negatives: the loss is 0.
    """
    z_graphs, first = with_negatives(z_graph)
    nodes, graphs = len(z_node), len(z_graphs)
    if graphs < 2:
        return (z_node.sum() + z_graphs.sum()) * 0.0
    with torch.autocast(z_node.device.type, enabled=False):
        score = z_node.float() @ z_graphs.float().t()
        own = score.gather(1, batch.unsqueeze(1) + first)
        own_plus = F.softplus(own)
        # The negatives are all pairs less the positive ones; softplus(-s) = softplus(s) - s.
        negative = (F.softplus(score).sum() - own_plus.sum()) / (average_count(nodes) * (graphs - 1))
        positive = part_of_mean((own_plus - own).mean(), nodes)
    return negative + positive - 2.0 * math.log(2.0)


def prior_matching(prior_logit: Tensor, graph_logit: Tensor) -> Tensor:
    """`-E[log D(prior)] - E[log(1 - D(graph_emb))]`, given the discriminator's logits."""
    loss = F.softplus(-prior_logit.float()).mean() + F.softplus(graph_logit.float()).mean()
    return part_of_mean(loss, len(graph_logit))
