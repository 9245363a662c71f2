"""GIN: the paper's encoder for graphs without edge features (Xu et al. 2019)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from adgcl.core.schema import FeatureSpec
from adgcl.encoders.base import ENCODERS, Encoder, EncoderConfig
from adgcl.encoders.dropout import Dropout
from adgcl.encoders.fused import Plan, gin_states
from adgcl.encoders.inputs import RawInputs
from adgcl.encoders.norm import NodeNorm, normed
from adgcl.encoders.stack import Keeps, Stack
from adgcl.graphs.kernels.added import with_added_messages
from adgcl.graphs.kernels.ops import neighbour_sum
from adgcl.graphs.kernels.precision import wide_products
from adgcl.graphs.store.batch import GraphBatch
from adgcl.parallel.collectives import shares_statistics


class GINLayer(nn.Module):
    """`h_i <- drop(relu(norm(mlp(h_i + sum over neighbours j of keep_ij h_j))))`; no relu after the last layer.

    Deviation: the second linear map has no bias before a normalisation, which would cancel it. The authors' map has
    one: it changes no output, but its gradient is rounding noise that Adam turns into full steps.
    """

    def __init__(self, in_dim: int, config: EncoderConfig, last: bool) -> None:
        super().__init__()
        self.first = nn.Linear(in_dim, config.hidden_dim)
        self.second = nn.Linear(config.hidden_dim, config.hidden_dim, bias=not config.batch_norm)
        self.norm = NodeNorm(config.hidden_dim) if config.batch_norm else None
        self.last, self.dropout = last, Dropout(config.dropout)

    def forward(self, h: Tensor, batch: GraphBatch, stack: Stack, edges: object) -> Tensor:
        if self.norm is None or not stack.last_edges_only or (self.training and shares_statistics()):
            parts = [neighbour_sum(p, batch, keep) for p, keep in zip(h.chunk(stack.copies), stack.edge_keeps)]
            sums = with_added_messages(torch.cat(parts), h, stack.added)
            h = self.second(self.first(h + sums).relu())
            h = normed(h, self.norm, stack.copies, stack.node_keeps, relu=not self.last)
        else:
            h = fused_layers([self], h, batch, stack.edge_keeps)[0]
        dropped: Tensor = self.dropout(h)
        return dropped


def fused_layers(
    layers: Sequence[GINLayer], h: Tensor, batch: GraphBatch, keeps: Keeps, every: bool = True
) -> tuple[Tensor, ...]:
    """The states after each of several consecutive layers with only normalisation between them, or only the last."""
    weights: list[Any] = []
    norms: list[Any] = []
    for layer in layers:
        # Read from the modules' dictionaries: five attributes of each layer would cost as much as a kernel.
        modules: dict[str, Any] = layer._modules
        first, second, norm = (modules[name]._parameters for name in ("first", "second", "norm"))
        weights += [first["weight"], first["bias"], second["weight"], norm["weight"], norm["bias"]]
        norms.append(modules["norm"])
    plan = Plan(tuple(norms), tuple(not layer.last for layer in layers), every)
    # Sparse products need 32 bits, and at GIN's usual width 16-bit products gain nothing.
    with wide_products(h.device):
        return gin_states(h.float(), keeps, batch, plan, weights)


@ENCODERS.register("gin")
class GIN(Encoder):
    """GIN with epsilon 0 and no inner normalisation, as the authors run it on the TU sets."""

    def __init__(self, config: EncoderConfig, spec: FeatureSpec) -> None:
        super().__init__(config, spec)
        inputs = RawInputs(spec.node)
        self.inputs = inputs
        widths = [inputs.width] + [config.hidden_dim] * (config.num_layers - 1)
        self.layers = nn.ModuleList(
            GINLayer(width, config, last=i == config.num_layers - 1) for i, width in enumerate(widths)
        )

    def states(self, h: Tensor, batch: GraphBatch, stack: Stack, edges: object) -> Sequence[Tensor]:
        shared = self.training and shares_statistics()  # which is not written into the fused layers
        if self.config.dropout or not self.config.batch_norm or not stack.last_edges_only or shared:
            return super().states(h, batch, stack, edges)
        every = self.config.layers == "all"
        return fused_layers(list(self.layers), h, batch, stack.edge_keeps, every)  # type: ignore[arg-type]
