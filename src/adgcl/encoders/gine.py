"""GINE: the paper's encoder for molecules, whose messages carry bond features (Hu et al. 2020)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from adgcl.core.schema import FeatureSpec
from adgcl.encoders.base import ENCODERS, Encoder, EncoderConfig
from adgcl.encoders.dense import Dense, linear
from adgcl.encoders.dropout import Dropout
from adgcl.encoders.inputs import EdgeInputs, EmbeddedInputs
from adgcl.encoders.norm import NodeNorm, normed
from adgcl.encoders.stack import Keeps, Stack
from adgcl.graphs.kernels.added import with_added_messages
from adgcl.graphs.kernels.messages import edge_message_sum
from adgcl.graphs.kernels.ops import rows
from adgcl.graphs.kernels.quotient import Block
from adgcl.graphs.kernels.shared_rows import shared_row_sum
from adgcl.graphs.store.batch import GraphBatch


class GINELayer(nn.Module):
    """`h_i <- drop(relu(norm(mlp(h_i + sum over neighbours j of keep_ij relu(h_j + bond_ij)))))`.

    As in GIN, there is no bias before a normalisation. An edge that a View adds has no bond: its `bond_ij` is 0.
    """

    def __init__(self, config: EncoderConfig, last: bool) -> None:
        super().__init__()
        width = config.hidden_dim
        self.first = Dense(width, 2 * width, bias=not config.batch_norm)
        self.inner_norm = NodeNorm(2 * width) if config.batch_norm else None
        self.second = Dense(2 * width, width, bias=not config.batch_norm)
        self.norm = NodeNorm(width) if config.batch_norm else None
        self.last, self.dropout = last, Dropout(config.dropout)

    def forward(self, h: Tensor, batch: GraphBatch, stack: Stack, edges: tuple[Tensor, Tensor]) -> Tensor:
        copies, keeps = stack.copies, stack.edge_keeps
        parts = [edge_message_sum(part, *edges, batch, keep) for part, keep in zip(h.chunk(copies), keeps)]
        sums = parts[0] if copies == 1 else torch.cat(parts)
        if stack.added is not None:
            sums = with_added_messages(sums, h.relu(), stack.added)
        return self._mapped(h + sums, copies, stack.node_keeps)

    def of_classes(self, h: Tensor, block: Block, edges: tuple[Tensor, Tensor]) -> Tensor:
        """The same with one row for every class of identical nodes."""
        sums = edge_message_sum(h, edges[0], rows(edges[1], block.edge), block, block.keep)
        return self._mapped(rows(h, block.own) + sums, 1, (block.counts,))

    def opening(self, h: Tensor, block: Block, edges: tuple[Tensor, Tensor]) -> Tensor:
        """`of_classes` for the first layer: `W (h_i + sum of m_ij) = W h_i + sum of W m_ij`.

        Its inputs are so few different atoms and bonds that mapping each distinct message once pays off.
        """
        table, code = edges
        message, of_edge = torch.unique(block.col * len(table) + rows(code, block.edge), return_inverse=True)
        if len(h) + len(message) >= block.num_nodes:
            return self.of_classes(h, block, edges)
        messages = (rows(h, message // len(table)) + rows(table, message % len(table))).relu()
        mapped = linear(torch.cat((h, messages)), self.first.weight)
        sums = shared_row_sum(mapped, block.own, of_edge + len(h), block.target, block.keep)
        return self._normed(sums if self.first.bias is None else sums + self.first.bias, 1, (block.counts,))

    def _mapped(self, h: Tensor, copies: int, node_keeps: Keeps) -> Tensor:
        return self._normed(self.first(h), copies, node_keeps)

    def _normed(self, h: Tensor, copies: int, node_keeps: Keeps) -> Tensor:
        """What follows the first linear map."""
        h = normed(h, self.inner_norm, copies, node_keeps, relu=True)
        h = normed(self.second(h), self.norm, copies, node_keeps, relu=not self.last)
        dropped: Tensor = self.dropout(h)
        return dropped


@ENCODERS.register("gine")
class GINE(Encoder):
    """GINE with one bond embedding shared by all layers, as the authors run it on OGB and ZINC."""

    by_classes = True

    def __init__(self, config: EncoderConfig, spec: FeatureSpec) -> None:
        super().__init__(config, spec)
        self.inputs = EmbeddedInputs(spec.node, config.hidden_dim)
        self.bonds = EdgeInputs(spec.edge, config.hidden_dim)
        self.layers = nn.ModuleList(
            GINELayer(config, last=i == config.num_layers - 1) for i in range(config.num_layers)
        )

    def edge_inputs(self, batch: GraphBatch) -> tuple[Tensor, Tensor]:
        edges: tuple[Tensor, Tensor] = self.bonds(batch)
        return edges
