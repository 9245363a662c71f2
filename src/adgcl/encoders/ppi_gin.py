"""GIN for protein interactions: nodes without features, edges with nine marks, a centre node (Hu et al. 2020)."""

from __future__ import annotations

from functools import partial
from typing import Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from adgcl.core.errors import ConfigError
from adgcl.core.schema import Features, FeatureSpec
from adgcl.encoders.base import ENCODERS, WEIGHTLESS, Encoder, EncoderConfig
from adgcl.encoders.dense import Dense, linear
from adgcl.encoders.dropout import Dropout
from adgcl.encoders.norm import NodeNorm, normed
from adgcl.encoders.readout import READOUTS, sum_readout
from adgcl.encoders.stack import Stack
from adgcl.graphs.kernels.added import with_added_messages
from adgcl.graphs.kernels.ops import neighbour_sum
from adgcl.graphs.store.batch import GraphBatch

# Nine marks of an edge, each 0 or 1: seven kinds of evidence, one for self-loops, one that Hu et al. use for masking.
NUM_MARKS, LOOP_MARK = 9, 7
# A node's only feature says whether it is the centre of its graph (0 or 1); only the readout uses it.
NODE, EDGE = Features((2,)), Features((2,) * NUM_MARKS)


class PPIGINConfig(EncoderConfig):
    """Settings of the GIN for protein interactions; the defaults are those of Hu et al."""

    name: str = "ppi_gin"
    hidden_dim: int = Field(300, ge=1, le=4096, description="width of every layer")
    readout: Literal["sum", "mean", "max"] = Field(
        "mean", description="how node rows become a graph row", json_schema_extra=WEIGHTLESS
    )
    centre: bool = Field(
        True, description="put the row of the centre node beside that of the graph", json_schema_extra=WEIGHTLESS
    )


class UniformInputs(nn.Module):
    """The same learned row for every node, and a second one that masked nodes fade to."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width
        self.table = nn.Parameter(nn.init.xavier_uniform_(torch.empty(2, width)))

    def forward(self, batch: GraphBatch, feature_keep: Tensor | None = None) -> Tensor:
        own, mask = self.table
        if feature_keep is None:
            return own.repeat(batch.num_nodes, 1)
        return mask.lerp(own, feature_keep.unsqueeze(1).to(own.dtype))


class PPIGINLayer(nn.Module):
    """`h_i <- drop(relu(mlp(sum over j in neighbours and i itself of keep_ij [h_j, edge_ij])))`.

    `edge_ij` is a linear map of the edge's marks, and `mlp` a linear map, normalisation, relu and a linear map. Sums of
    linear maps are maps of sums, so the marks are added up first, once for all layers (`mark_sums`), and applying both
    maps to them is one small product. An edge that a View adds has no marks: its `edge_ij` is 0. As in GIN, there is no
    bias before a normalisation.
    """

    def __init__(self, config: PPIGINConfig, last: bool) -> None:
        super().__init__()
        width = config.hidden_dim
        self.marks = nn.Linear(NUM_MARKS, width)
        self.first = Dense(2 * width, 2 * width, bias=not config.batch_norm)
        self.norm = NodeNorm(2 * width) if config.batch_norm else None
        self.second = Dense(2 * width, width)
        self.last, self.dropout = last, Dropout(config.dropout)

    def forward(self, h: Tensor, batch: GraphBatch, stack: Stack, mark_sums: Tensor) -> Tensor:
        parts = [neighbour_sum(part, batch, keep) for part, keep in zip(h.chunk(stack.copies), stack.edge_keeps)]
        sums = h + with_added_messages(parts[0] if stack.copies == 1 else torch.cat(parts), h, stack.added)
        of_nodes, of_edges = self.first.weight.chunk(2, dim=1)
        by_mark = torch.cat((self.marks.weight, self.marks.bias.unsqueeze(1)), dim=1)
        mapped = linear(sums, of_nodes, self.first.bias) + linear(mark_sums, of_edges @ by_mark)
        h = self.second(normed(mapped, self.norm, stack.copies, stack.node_keeps, relu=True))
        dropped: Tensor = self.dropout(h if self.last else h.relu())
        return dropped


@ENCODERS.register("ppi_gin")
class PPIGIN(Encoder):
    """The row of a graph is the mean of its nodes' rows, and beside it the row of its centre node."""

    Config = PPIGINConfig
    config: PPIGINConfig

    def __init__(self, config: PPIGINConfig, spec: FeatureSpec) -> None:
        super().__init__(config, spec)
        _check(spec)
        self.inputs = UniformInputs(config.hidden_dim)
        self.layers = nn.ModuleList(
            PPIGINLayer(config, last=i == config.num_layers - 1) for i in range(config.num_layers)
        )
        if config.centre:
            self.readout = partial(_beside_centre, config.readout)

    @property
    def graph_dim(self) -> int:
        return self.node_dim * (2 if self.config.centre else 1)

    def states(self, h: Tensor, batch: GraphBatch, stack: Stack, edges: None) -> list[Tensor]:
        return list(super().states(h, batch, stack, mark_sums(batch, stack, h.dtype)))


def mark_sums(batch: GraphBatch, stack: Stack, dtype: torch.dtype) -> Tensor:
    """How often each mark arrives at a node, weighted and including its self-loop; the last column counts the edges:
    `[copies * N, NUM_MARKS + 1]`."""
    assert batch.edge_attr is not None
    marks = torch.cat((batch.edge_attr, torch.ones_like(batch.edge_attr[:, :1])), dim=1).to(dtype)
    loop = torch.zeros(batch.num_nodes, NUM_MARKS + 1, dtype=dtype, device=batch.device)
    loop[:, [LOOP_MARK, NUM_MARKS]] = 1.0
    sums = [
        loop.index_add(0, batch.target, marks if keep is None else marks * keep.to(dtype).unsqueeze(1))
        for keep in stack.edge_keeps
    ]
    return sums[0] if len(sums) == 1 else torch.cat(sums)


def _beside_centre(
    readout: str, node_emb: Tensor, batch: GraphBatch, copies: int = 1, node_keep: Tensor | None = None
) -> Tensor:
    """The readout of a graph's nodes and the row of its centre, which fades with the centre's weight."""
    assert batch.x is not None
    centre = batch.x[:, 0].repeat(copies).to(node_emb.dtype)
    weight = centre if node_keep is None else centre * node_keep
    everywhere = READOUTS[readout](node_emb, batch, copies, node_keep)
    return torch.cat((everywhere, sum_readout(node_emb, batch, copies, weight)), dim=1)


def _check(spec: FeatureSpec) -> None:
    if (spec.node, spec.edge) != (NODE, EDGE):
        raise ConfigError(
            f"The encoder 'ppi_gin' reads graphs of protein interactions: one node column that marks the centre and "
            f"{NUM_MARKS} edge columns of 0 or 1, not {spec.name!r}.",
            "`adgcl data info PPI` says how such data is laid out; for other graphs, choose another encoder.",
        )
