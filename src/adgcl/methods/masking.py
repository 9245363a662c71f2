"""What methods that hide nodes and predict their category share: which nodes are hidden, and how."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import torch
from pydantic import Field
from torch import Tensor
from torch.optim import Optimizer

from adgcl.augmentations.random_base import drawn_nodes
from adgcl.core.ranges import searched
from adgcl.core.schema import FeatureSpec, Task
from adgcl.encoders.base import EncoderConfig, make_encoder
from adgcl.graphs.chem.atoms import mask_codes
from adgcl.graphs.kernels.ops import rows
from adgcl.graphs.store.batch import GraphBatch
from adgcl.graphs.store.view import View
from adgcl.methods.base import Method, MethodConfig, switch
from adgcl.methods.optimizer import PlayerAdam


class MaskingConfig(MethodConfig):
    """How much is hidden, and how fast to learn."""

    mask_rate: float = Field(
        0.15,
        ge=0.0,
        lt=1.0,
        description="share of nodes to hide; one more than this share, rounded down, is hidden",
        json_schema_extra=searched(0.05, 0.5),
    )
    lr: float = Field(1e-3, gt=0.0, description="learning rate", json_schema_extra=searched(1e-4, 1e-2, log=True))


class Masked(NamedTuple):
    """A batch with hidden nodes: what the encoder sees of it, which nodes are hidden, and their true categories."""

    batch: GraphBatch
    view: View
    hidden: Tensor
    nodes: Tensor
    codes: Tensor


class Masking(Method):
    """Hides `floor(mask_rate * n + 1)` of a graph's n nodes, new ones in every step, and predicts their first category.

    If the feature set has a code that means "hidden" (`hu`), hidden nodes get that code, and 0 in the other columns.
    Otherwise the learned mask of the encoder's inputs replaces all features of a hidden node. Both are one learned row;
    with the code, an encoder can still compute identical nodes once.

    Linear layers keep torch's initialisation, as in the code of these methods' authors.
    """

    needs_categories = True
    parallel = True
    config: MaskingConfig

    def __init__(self, config: MaskingConfig, encoder: EncoderConfig, spec: FeatureSpec, task: Task) -> None:
        super().__init__(config, encoder, spec, task)
        self.encoder = make_encoder(encoder, spec)
        self.tokens = mask_codes(spec)
        # The categories to predict: in `hu` the codes below that of a hidden atom, which is the last.
        self.num_categories = spec.node.sizes[0] if self.tokens is None else self.tokens[0]

    def make_optimizers(self) -> dict[str, Optimizer]:
        return {"encoder": PlayerAdam(self.parameters(), self.config.lr)}

    def mask(self, batch: GraphBatch, generator: torch.Generator) -> Masked:
        """Hide nodes drawn uniformly; the batch itself stays as it is."""
        assert batch.x is not None
        hidden = drawn_nodes(batch, hidden_counts(batch.node_counts, self.config.mask_rate), generator)
        nodes = hidden.nonzero().squeeze(1)
        codes = rows(batch.x, nodes)[:, 0]
        if self.tokens is None:
            return Masked(batch, View(feature_keep=1.0 - hidden.float()), hidden, nodes, codes)
        return Masked(replace(batch, x=with_token(batch.x, nodes, self.tokens[0])), View(), hidden, nodes, codes)

    def states(self, masked: Masked) -> Tensor:
        """The rows of all nodes in training mode, computed from what is still visible."""
        switch(self.encoder, training=True)
        if masked.view.unchanged:
            return self.encoder.node_emb(masked.batch)
        return self.encoder(masked.batch, masked.view).node_emb


def hidden_counts(node_counts: Tensor, rate: float) -> Tensor:
    """`floor(rate * n + 1)`, as Python computes it."""
    wanted = (node_counts.cpu().double() * rate + 1.0).floor().long().to(node_counts.device)
    return torch.minimum(wanted, node_counts)


def with_token(codes: Tensor, places: Tensor, token: int) -> Tensor:
    """A copy of `codes [n, columns]` with `token, 0, 0, ...` in these places."""
    row = codes.new_zeros(1, codes.shape[1])
    row[0, 0] = token
    return codes.index_copy(0, places, row.expand(len(places), -1))
