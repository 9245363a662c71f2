"""Hu's GIN: the encoder for transfer learning on molecules, with bond embeddings in every layer (Hu et al. 2020)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from adgcl.core.errors import ConfigError
from adgcl.core.schema import Features, FeatureSpec
from adgcl.encoders.base import ENCODERS, WEIGHTLESS, Encoder, EncoderConfig
from adgcl.encoders.dense import Dense, linear, mlp
from adgcl.encoders.dropout import Dropout
from adgcl.encoders.inputs import EmbeddedInputs
from adgcl.encoders.norm import NodeNorm, normed
from adgcl.encoders.relu_loops import biased_relu
from adgcl.encoders.stack import Keeps, Stack
from adgcl.graphs.kernels.added import with_added_messages
from adgcl.graphs.kernels.messages import edge_message_sum
from adgcl.graphs.kernels.ops import rows
from adgcl.graphs.kernels.quotient import Block
from adgcl.graphs.kernels.shared_rows import shared_row_sum
from adgcl.graphs.store.batch import GraphBatch

# The bond type of a self-loop; its direction is 0.
LOOP_TYPE = 4


class HuGINConfig(EncoderConfig):
    """Settings of Hu's GIN; the defaults are those of its authors."""

    name: str = "hu_gin"
    hidden_dim: int = Field(300, ge=1, le=4096, description="width of every layer")
    readout: Literal["sum", "mean", "max"] = Field(
        "mean", description="how node rows become a graph row", json_schema_extra=WEIGHTLESS
    )
    message: Literal["sum", "relu"] = Field(
        "sum", description="atom plus bond as it is (Hu et al.), or its relu (the authors of AD-GCL)"
    )


@dataclass(frozen=True, eq=False)
class LoopedEdges:
    """Edges with a self-loop for every node at the end; `code [E + N]` says which bond each of them is."""

    col: Tensor
    target: Tensor
    code: Tensor
    num_nodes: int

    @classmethod
    def of(cls, own: Tensor, col: Tensor, target: Tensor, code: Tensor, loop: int) -> LoopedEdges:
        """`own [N]` is the row that each node sends to itself."""
        every = torch.arange(len(own), device=own.device)
        loops = torch.full_like(own, loop)
        return cls(torch.cat((col, own)), torch.cat((target, every)), torch.cat((code, loops)), len(own))

    def looped(self, keep: Tensor | None) -> Tensor | None:
        """The weights of all edges: self-loops are never dropped."""
        return None if keep is None else torch.cat((keep, keep.new_ones(self.num_nodes)))


class BondTable(nn.Module):
    """A row for every combination of bond type and direction: the sum of one learned row for each."""

    def __init__(self, bonds: Features, width: int) -> None:
        super().__init__()
        types, directions = bonds.sizes
        self.kind = nn.Parameter(nn.init.xavier_uniform_(torch.empty(types, width)))
        self.direction = nn.Parameter(nn.init.xavier_uniform_(torch.empty(directions, width)))

    def forward(self) -> Tensor:
        return (self.kind.unsqueeze(1) + self.direction).flatten(0, 1)


class HuGINLayer(nn.Module):
    """`h_i <- drop(relu(norm(mlp(sum over j in neighbours and i itself of keep_ij message(h_j + bond_ij)))))`.

    `message` is the identity or a relu. The self-loop is a bond of its own type and always has weight 1. An edge that a
    View adds has no bond: its `bond_ij` is 0. As in GIN, there is no bias before a normalisation.
    """

    def __init__(self, config: HuGINConfig, bonds: Features, last: bool) -> None:
        super().__init__()
        width = config.hidden_dim
        self.bonds = BondTable(bonds, width)
        self.first = Dense(width, 2 * width)
        self.second = Dense(2 * width, width, bias=not config.batch_norm)
        self.norm = NodeNorm(width) if config.batch_norm else None
        self.relu, self.last, self.dropout = config.message == "relu", last, Dropout(config.dropout)
        self.loop = LOOP_TYPE * bonds.sizes[1]

    def forward(self, h: Tensor, batch: GraphBatch, stack: Stack, edges: LoopedEdges) -> Tensor:
        parts = [self._summed(part, edges, keep) for part, keep in zip(h.chunk(stack.copies), stack.edge_keeps)]
        sums = parts[0] if stack.copies == 1 else torch.cat(parts)
        if stack.added is not None:
            sums = with_added_messages(sums, h.relu() if self.relu else h, stack.added)
        return self._normed(mlp(sums, self.first, self.second), stack.copies, stack.node_keeps)

    def of_classes(self, h: Tensor, block: Block, edges: LoopedEdges) -> Tensor:
        """The same with one row for every class of identical nodes."""
        sums = self._summed(h, self._block_edges(block, edges), block.keep)
        return self._normed(mlp(sums, self.first, self.second), 1, (block.counts,))

    def opening(self, h: Tensor, block: Block, edges: LoopedEdges) -> Tensor:
        """`of_classes` for the first layer: `W (sum of m_ij) = sum of W m_ij`.

        Its inputs are so few different atoms and bonds that mapping each distinct message once pays off.
        """
        inner, table = self._block_edges(block, edges), self.bonds()
        message, of_edge = torch.unique(inner.col * len(table) + inner.code, return_inverse=True)
        if len(message) >= block.num_nodes:
            return self.of_classes(h, block, edges)
        messages = rows(h, message // len(table)) + rows(table, message % len(table))
        mapped = linear(messages.relu() if self.relu else messages, self.first.weight)
        of_bond, of_loop = of_edge.split([len(block.col), block.num_nodes])
        sums = shared_row_sum(mapped, of_loop, of_bond, block.target, block.keep)
        return self._normed(self.second(biased_relu(sums, self.first.bias)), 1, (block.counts,))

    def _block_edges(self, block: Block, edges: LoopedEdges) -> LoopedEdges:
        return LoopedEdges.of(block.own, block.col, block.target, rows(edges.code, block.edge), self.loop)

    def _summed(self, h: Tensor, edges: LoopedEdges, keep: Tensor | None) -> Tensor:
        return edge_message_sum(h, self.bonds(), edges.code, edges, edges.looped(keep), self.relu)

    def _normed(self, h: Tensor, copies: int, node_keeps: Keeps) -> Tensor:
        """What follows the second linear map."""
        h = normed(h, self.norm, copies, node_keeps, relu=not self.last)
        dropped: Tensor = self.dropout(h)
        return dropped


@ENCODERS.register("hu_gin")
class HuGIN(Encoder):
    """Starts from `h_i = atom_i + chirality_i`, and has a separate bond table in every layer."""

    Config = HuGINConfig
    by_classes = True
    config: HuGINConfig

    def __init__(self, config: HuGINConfig, spec: FeatureSpec) -> None:
        super().__init__(config, spec)
        _check(spec)
        self.inputs = EmbeddedInputs(spec.node, config.hidden_dim)
        self.layers = nn.ModuleList(
            HuGINLayer(config, spec.edge, last=i == config.num_layers - 1) for i in range(config.num_layers)
        )

    def edge_inputs(self, batch: GraphBatch) -> LoopedEdges:
        assert batch.edge_attr is not None
        types, directions = batch.edge_attr.unbind(1)
        width = self.spec.edge.sizes[1]
        own = torch.arange(batch.num_nodes, device=batch.device)
        return LoopedEdges.of(own, batch.col, batch.target, types * width + directions, LOOP_TYPE * width)


def _check(spec: FeatureSpec) -> None:
    """Require atom and chirality, bond and direction, and a bond type that is free for self-loops."""
    columns = len(spec.node.sizes), len(spec.edge.sizes), spec.node.num_dim, spec.edge.num_dim
    if columns != (2, 2, 0, 0) or spec.edge.sizes[0] <= LOOP_TYPE:
        raise ConfigError(
            f"The encoder 'hu_gin' reads the molecule features of Hu et al. (two columns for atoms, two for bonds), "
            f"not {spec.name!r}.",
            "For molecules read from SMILES, use --set data.atom_features=hu; otherwise choose another encoder.",
        )
