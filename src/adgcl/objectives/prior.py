"""Prior matching: a discriminator tells embeddings from draws of a prior (Deep InfoMax, Hjelm et al. 2019)."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional as F


def prior_matching(prior_logit: Tensor, graph_logit: Tensor) -> Tensor:
    """`-E[log D(prior)] - E[log(1 - D(graph_emb))]`, given the discriminator's logits."""
    return F.softplus(-prior_logit.float()).mean() + F.softplus(graph_logit.float()).mean()
