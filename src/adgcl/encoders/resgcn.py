"""ResGCN: the encoder of the published semi-supervised experiments (Chen et al. 2019, You et al. 2020).

Despite its name it has no skip connections there: graph convolutions (Kipf and Welling 2017) with a normalisation in
front of each, and one dense layer after the readout.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from pydantic import Field
from torch import Tensor, nn

from adgcl.core.schema import FeatureSpec
from adgcl.encoders.base import ENCODERS, Embedding, Encoder, EncoderConfig
from adgcl.encoders.dense import Dense, linear, relu_linear
from adgcl.encoders.dropout import Dropout
from adgcl.encoders.inputs import RawInputs
from adgcl.encoders.norm import NodeNorm, normed
from adgcl.encoders.relu_loops import biased_relu
from adgcl.encoders.stack import Keeps, Stack
from adgcl.graphs.kernels.added import with_added_messages
from adgcl.graphs.kernels.ops import rows
from adgcl.graphs.kernels.quotient import Block, quotient
from adgcl.graphs.kernels.shared_rows import shared_row_sum
from adgcl.graphs.store.batch import GraphBatch
from adgcl.graphs.store.view import AddedEdges, View

# Where published normalisations start: slightly above 0, so that a constant column is not silent.
_FIRST_SHIFT = 1e-4


class ResGCNConfig(EncoderConfig):
    """Settings of ResGCN; the defaults are those of its published experiments."""

    name: str = "resgcn"
    hidden_dim: int = Field(128, ge=1, le=4096, description="width of every layer")
    num_layers: int = Field(3, ge=1, le=64, description="message-passing layers")
    batch_norm: bool = Field(True, description="normalise before every layer")


class ResGCNLayer(nn.Module):
    """`h_i <- drop(relu(W sum over j of a_ij norm(h_j) + b))`, `a_ij = keep_ij / sqrt(d_i d_j)`.

    j runs over the neighbours of i and i itself, with `keep_ii = 1` whether or not the graph has such an edge; `d_i` is
    the sum of all `keep_ij`, so that a View changes both the messages and what they are divided by, and an edge of
    weight 0 is no edge.
    """

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.norm = _norm(config.hidden_dim, config)
        self.linear = Dense(config.hidden_dim, config.hidden_dim)
        self.dropout = Dropout(config.dropout)

    def forward(self, h: Tensor, batch: GraphBatch, stack: Stack, scale: Tensor) -> Tensor:
        """`scale` holds `1 / sqrt(d)` of every row of the stack."""
        h = normed(h, self.norm, stack.copies, stack.node_keeps, relu=False)
        every = torch.arange(batch.num_nodes, device=batch.device)
        parts = [
            shared_row_sum(part, every, batch.col, batch.target, *_weights(keep, own, batch))
            for part, keep, own in zip(h.chunk(stack.copies), stack.edge_keeps, scale.chunk(stack.copies))
        ]
        sums = parts[0] if stack.copies == 1 else torch.cat(parts)
        return self._mapped(with_added_messages(sums, h, _scaled(stack.added, scale)))

    def of_classes(self, h: Tensor, counts: Tensor, block: Block, scale: Tensor) -> Tensor:
        """The same with one row for every class of identical nodes; `counts` and `scale` are of those before it."""
        h = normed(h, self.norm, 1, (counts,), relu=False)
        own = rows(scale, block.own)
        keep = rows(scale, block.col) * rows(own, block.target)
        return self._mapped(shared_row_sum(h, block.own, block.col, block.target, keep, own.square()))

    def opening(self, h: Tensor, counts: Tensor, member: Tensor, batch: GraphBatch, stack: Stack) -> Tensor:
        """The first layer of a View: `W sum of a_ij h_j = sum of a_ij W h_j`, and only few `h_j` differ."""
        scale = inverse_roots(batch, stack)
        mapped = linear(normed(h, self.norm, 1, (counts,), relu=False), self.linear.weight)
        keep, own = _weights(stack.edge_keeps[0], scale, batch)
        sums = shared_row_sum(mapped, member, rows(member, batch.col), batch.target, keep, own)
        dropped: Tensor = self.dropout(biased_relu(sums, self.linear.bias))
        return dropped

    def _mapped(self, sums: Tensor) -> Tensor:
        dropped: Tensor = self.dropout(relu_linear(sums, self.linear.weight, self.linear.bias))
        return dropped


@ENCODERS.register("resgcn")
class ResGCN(Encoder):
    """`norm, W, relu` on the features of nodes, graph convolutions, readout, `norm, dense, relu, norm` on graphs.

    Convolutions start from Xavier-uniform weights, as published; the dense layers, and the heads on top, from torch's
    own start, which is narrower: with few labels that is worth two points.
    """

    Config = ResGCNConfig
    by_classes = True
    own_start = True
    cost = 0.3

    def __init__(self, config: EncoderConfig, spec: FeatureSpec) -> None:
        super().__init__(config, spec)
        inputs = RawInputs(spec.node)
        self.inputs = inputs
        self.input_norm = _norm(inputs.width, config)
        self.input_map = Dense(inputs.width, config.hidden_dim, bias=False)
        self.layers = nn.ModuleList(ResGCNLayer(config) for _ in range(config.num_layers))
        self.graph_norm = _norm(self.node_dim, config)
        self.graph_map = Dense(self.node_dim, config.hidden_dim)
        self.last_norm = _norm(config.hidden_dim, config)
        nn.init.xavier_uniform_(self.input_map.weight)
        for layer in self.layers:
            nn.init.xavier_uniform_(layer.linear.weight)  # type: ignore[union-attr, arg-type]
            nn.init.zeros_(layer.linear.bias)  # type: ignore[union-attr, arg-type]

    @property
    def graph_dim(self) -> int:
        return self.config.hidden_dim

    def stacked(self, batch: GraphBatch, views: list[View]) -> Embedding:
        return super().stacked(*_without_loops(batch, views))

    def node_emb(self, batch: GraphBatch) -> Tensor:
        return super().node_emb(batch.loop_free[0])

    def headed(self, batch: GraphBatch, head: nn.Module) -> Embedding:
        return super().headed(batch.loop_free[0], head)

    def states(self, h: Tensor, batch: GraphBatch, stack: Stack, edges: None) -> Sequence[Tensor]:
        h = self._begun(h, stack.copies, stack.node_keeps)
        return super().states(h, batch, stack, inverse_roots(batch, stack))

    def view_states(self, batch: GraphBatch, stack: Stack) -> Sequence[Tensor]:
        classes = quotient(batch, len(self.layers), degrees=True)
        node_keep = stack.node_keeps[0]
        counts = _counts(classes.initial, len(classes.first), node_keep)
        h = self._begun(self.inputs(batch, nodes=classes.first), 1, (counts,))
        h = self.layers[0].opening(h, counts, classes.initial, batch, stack)  # type: ignore[operator]
        states, scale = [h], inverse_roots(batch, stack)
        for layer in self.layers[1:]:
            states.append(layer(states[-1], batch, stack, scale))
        return states

    def _class_emb(self, batch: GraphBatch) -> tuple[Tensor, Tensor]:
        classes = quotient(batch, len(self.layers), degrees=True)
        counts = _counts(classes.initial, len(classes.first))
        scale = rows(batch.crow.diff(), classes.first).float().add(1).rsqrt()
        h = self._begun(self.inputs(batch, nodes=classes.first), 1, (counts,))
        states = []
        for layer, block, members in zip(self.layers, classes.blocks, classes.members):
            h = layer.of_classes(h, counts, block, scale)  # type: ignore[operator]
            assert block.counts is not None
            counts, scale = block.counts, rows(scale, block.own)
            if self.config.layers == "all" and layer is not self.layers[-1]:
                states.append(rows(h, rows(members, classes.last)))
        return self._read([*states, h]), classes.members[-1]

    def graph_rows(self, node_emb: Tensor, batch: GraphBatch, stack: Stack) -> Tensor:
        pooled = super().graph_rows(node_emb, batch, stack)
        every = (None,) * stack.copies
        h = normed(pooled, self.graph_norm, stack.copies, every, relu=False)
        h = relu_linear(h, self.graph_map.weight, self.graph_map.bias)
        return normed(h, self.last_norm, stack.copies, every, relu=False)

    def _begun(self, h: Tensor, copies: int, node_keeps: Keeps) -> Tensor:
        """The rows before the first convolution."""
        return relu_linear(normed(h, self.input_norm, copies, node_keeps, relu=False), self.input_map.weight)


def _without_loops(batch: GraphBatch, views: list[View]) -> tuple[GraphBatch, list[View]]:
    """Batch and Views without edges from a node to itself: the layers give every node one of weight 1."""
    plain, places = batch.loop_free
    if places is None and all(view.added is None for view in views):
        return batch, views
    return plain, [replace(view, edge_keep=_at(view.edge_keep, places), added=_apart(view.added)) for view in views]


def _at(keep: Tensor | None, places: Tensor | None) -> Tensor | None:
    return keep if keep is None or places is None else keep.index_select(0, places)


def _apart(added: AddedEdges | None) -> AddedEdges | None:
    """The added edges between two different nodes."""
    if added is None:
        return None
    places = (added.source != added.target).nonzero().squeeze(1)
    return AddedEdges(*(column.index_select(0, places) for column in (added.source, added.target, added.keep)))


def inverse_roots(batch: GraphBatch, stack: Stack) -> Tensor:
    """`1 / sqrt(d_i)` of every row of the stack, `d_i` being 1 plus the weights of the edges that point at node i."""
    degrees = [
        batch.crow.diff().float() if keep is None else keep.new_zeros(batch.num_nodes).index_add(0, batch.target, keep)
        for keep in stack.edge_keeps
    ]
    total = degrees[0] if stack.copies == 1 else torch.cat(degrees)
    if stack.added is not None:
        total = total.to(stack.added.keep.dtype).index_add(0, stack.added.target, stack.added.keep)
    return (total + 1).rsqrt()


def _weights(keep: Tensor | None, scale: Tensor, batch: GraphBatch) -> tuple[Tensor, Tensor]:
    """`a_ij` of all edges, and `a_ii` of all nodes."""
    by_ends = rows(scale, batch.col) * rows(scale, batch.target)
    return by_ends if keep is None else by_ends * keep, scale.square()


def _scaled(added: AddedEdges | None, scale: Tensor) -> AddedEdges | None:
    if added is None:
        return None
    weight = added.keep * rows(scale, added.source) * rows(scale, added.target)
    return AddedEdges(added.source, added.target, weight)


def _counts(member: Tensor, classes: int, node_keep: Tensor | None = None) -> Tensor:
    """How many nodes each class stands for, or the sum of their weights."""
    keep = torch.ones(len(member)) if node_keep is None else node_keep
    return keep.new_zeros(classes).index_add(0, member, keep)


def _norm(width: int, config: EncoderConfig) -> NodeNorm | None:
    if not config.batch_norm:
        return None
    norm = NodeNorm(width)
    nn.init.constant_(norm.bias, _FIRST_SHIFT)
    return norm
