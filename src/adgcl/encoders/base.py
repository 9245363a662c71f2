"""Encoder: graphs -> node and graph embeddings, honouring the weights of a View."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import torch
from pydantic import Field
from torch import Tensor, nn

from adgcl.core.config import Config
from adgcl.core.registry import Registry
from adgcl.core.schema import FeatureSpec
from adgcl.encoders.readout import READOUTS
from adgcl.graphs.batch import GraphBatch
from adgcl.graphs.view import View


class EncoderConfig(Config):
    """Which network turns graphs into vectors, and its shape."""

    name: str = Field("auto", description="gin, gine, ...; auto takes gine where edges carry features, else gin")
    hidden_dim: int = Field(32, ge=1, le=4096, description="width of every layer")
    num_layers: int = Field(5, ge=1, le=64, description="message-passing layers")
    readout: Literal["sum", "mean", "max"] = Field("sum", description="how node rows become a graph row")
    layers: Literal["last", "all"] = Field("last", description="read out the last layer, or all of them side by side")
    dropout: float = Field(0.0, ge=0.0, lt=1.0, description="share of activations dropped after every layer")
    batch_norm: bool = Field(True, description="normalise after every layer")


class Embedding(NamedTuple):
    """What an Encoder returns: a row per node and a row per graph."""

    node_emb: Tensor
    graph_emb: Tensor


class Encoder(nn.Module):
    """The common frame: inputs, layers one after another, readout. A subclass fills `inputs` and `layers`."""

    inputs: nn.Module
    layers: nn.ModuleList

    def __init__(self, config: EncoderConfig, spec: FeatureSpec) -> None:
        super().__init__()
        self.config, self.spec = config, spec
        self.readout = READOUTS[config.readout]

    @property
    def node_dim(self) -> int:
        """Columns of `node_emb`; `graph_emb` has as many."""
        return self.config.hidden_dim * (self.config.num_layers if self.config.layers == "all" else 1)

    def edge_inputs(self, batch: GraphBatch) -> Any:
        """What every layer needs to know about the edges; computed once for all layers."""
        return None

    def forward(self, batch: GraphBatch, view: View | None = None) -> Embedding:
        view = view or View()
        h = self.inputs(batch, view.feature_keep)
        return self._encode(h, batch, view.edge_keep, view.node_keep, self.edge_inputs(batch), copies=1)

    def pair(self, batch: GraphBatch, view: View) -> tuple[Embedding, Embedding]:
        """`self(batch), self(batch, view)` in one pass over both: same numbers, half the kernel calls."""
        twin = batch.twin
        h = torch.stack((self.inputs(batch), self.inputs(batch, view.feature_keep)), dim=1).flatten(0, 1)
        node_keep = view.node_keep
        if node_keep is not None:
            node_keep = torch.stack((torch.ones_like(node_keep), node_keep), dim=1).flatten()
        edges = twin.edge_inputs(self.edge_inputs(batch))
        both = self._encode(h, twin.batch, twin.edge_keep(view.edge_keep), node_keep, edges, copies=2, graphs=batch)
        node_emb, graph_emb = both.node_emb.unflatten(0, (-1, 2)), both.graph_emb.unflatten(1, (2, -1))
        return Embedding(node_emb[:, 0], graph_emb[:, 0]), Embedding(node_emb[:, 1], graph_emb[:, 1])

    def _encode(
        self, h: Tensor, batch: GraphBatch, edge_keep: Tensor | None, node_keep: Tensor | None, edges: Any, copies: int,
        graphs: GraphBatch | None = None,
    ) -> Embedding:  # fmt: skip
        """All layers and the readout; with several copies, their rows are interleaved and `graphs` says which belong together."""
        states = []
        for layer in self.layers:
            h = layer(_weighted(h, node_keep), batch, edge_keep, edges, copies)
            states.append(h)
        node_emb = torch.cat(states, dim=1) if self.config.layers == "all" else h
        wide = _weighted(node_emb, node_keep).reshape(-1, copies * node_emb.shape[1])
        return Embedding(node_emb, self.readout(wide, graphs or batch))


def _weighted(h: Tensor, node_keep: Tensor | None) -> Tensor:
    return h if node_keep is None else h * node_keep.unsqueeze(1)


ENCODERS: Registry[type[Encoder]] = Registry("encoder", "adgcl.encoders")


def make_encoder(config: EncoderConfig, spec: FeatureSpec) -> Encoder:
    """Build the encoder that `config` names for graphs that carry what `spec` says."""
    name = config.name
    if name == "auto":
        name = "gin" if spec.edge.empty else "gine"
    return ENCODERS[name](config.model_copy(update={"name": name}), spec)
