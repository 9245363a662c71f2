"""Encoder: graphs -> node and graph embeddings, honouring the weights of a View."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Literal, NamedTuple

import torch
from pydantic import Field
from torch import Tensor, nn

from adgcl.core.config import Config, Tree, build
from adgcl.core.ranges import searched
from adgcl.core.registry import Registry
from adgcl.core.schema import FeatureSpec
from adgcl.encoders.readout import READOUTS
from adgcl.encoders.stack import Stack, stack_views
from adgcl.graphs.kernels.ops import rows
from adgcl.graphs.kernels.quotient import opening, quotient
from adgcl.graphs.store.batch import GraphBatch
from adgcl.graphs.store.view import View

AUTO = "auto"
# Marks a setting (`json_schema_extra`) that no weight depends on: it may differ from those of a trained encoder.
WEIGHTLESS: dict[str, Any] = {"weightless": True}
# A batch as it is.
_ONE_COPY = Stack((None,), (None,))


class EncoderConfig(Config):
    """Which encoder to use, and the settings that all encoders share; an encoder's own `Config` adds to them."""

    name: str = Field(AUTO, description="gin, gine, ...; auto takes gine where edges carry features, else gin")
    hidden_dim: int = Field(32, ge=1, le=4096, description="width of every layer")
    num_layers: int = Field(5, ge=1, le=64, description="message-passing layers", json_schema_extra=searched(2, 6))
    readout: Literal["sum", "mean", "max"] = Field(
        "sum",
        description="how node rows become a graph row",
        json_schema_extra={**WEIGHTLESS, **searched(choices=("sum", "mean"))},
    )
    layers: Literal["last", "all"] = Field(
        "last",
        description="read out the last layer, or all of them side by side",
        json_schema_extra={**WEIGHTLESS, **searched(choices=("last", "all"))},
    )
    dropout: float = Field(
        0.0,
        ge=0.0,
        lt=1.0,
        description="share of activations dropped after every layer",
        json_schema_extra=WEIGHTLESS,
    )
    batch_norm: bool = Field(True, description="normalise after every layer")
    initial_weights: Literal["xavier", "torch"] = Field(
        "xavier",
        description="how linear layers start, also those of heads: Xavier-uniform with zero biases (the authors of "
        "AD-GCL), or as torch does (Hu et al.)",
        json_schema_extra=WEIGHTLESS,
    )

    def shape(self) -> Tree:
        """The settings that weights depend on."""
        return self.model_dump(mode="json", exclude=self.weightless())

    @classmethod
    def weightless(cls) -> set[str]:
        """The settings that no weight depends on."""
        extra = {name: field.json_schema_extra for name, field in cls.model_fields.items()}
        return {name for name, marks in extra.items() if isinstance(marks, Mapping) and marks.get("weightless")}


class Embedding(NamedTuple):
    """What an Encoder returns: a row per node and a row per graph."""

    node_emb: Tensor
    graph_emb: Tensor


class Encoder(nn.Module):
    """What all encoders share: inputs, layers in sequence, readout. A subclass fills `inputs` and `layers`."""

    Config: ClassVar[type[EncoderConfig]] = EncoderConfig
    inputs: nn.Module
    layers: nn.ModuleList
    # Whether computing identical nodes of a batch only once pays off: for wide layers it does.
    by_classes: ClassVar[bool] = False
    # Whether it, and what is trained with it, starts otherwise than the authors of AD-GCL do (see `initialise`).
    own_start: bool = False
    # The time of a pass, in that of a five-layer GINE of the same width.
    cost: ClassVar[float] = 1.0

    def __init__(self, config: EncoderConfig, spec: FeatureSpec) -> None:
        super().__init__()
        self.config, self.spec = config, spec
        self.own_start = self.own_start or config.initial_weights == "torch"
        self.readout = READOUTS[config.readout]

    @property
    def node_dim(self) -> int:
        """Columns of `node_emb`."""
        return self.config.hidden_dim * (self.config.num_layers if self.config.layers == "all" else 1)

    @property
    def graph_dim(self) -> int:
        """Columns of `graph_emb`."""
        return self.node_dim

    def edge_inputs(self, batch: GraphBatch) -> Any:
        """What every layer needs to know about the edges; computed once for all layers."""
        return None

    def forward(self, batch: GraphBatch, view: View | None = None) -> Embedding:
        return self.stacked(batch, [view or View()])

    def pair(self, batch: GraphBatch, view: View) -> tuple[Embedding, Embedding]:
        """`self(batch), self(batch, view)` in one pass over both: same numbers, fewer and larger kernel calls."""
        both = self.stacked(batch, [View(), view])
        (node, node_view), (graph, graph_view) = both.node_emb.chunk(2), both.graph_emb.chunk(2)
        return Embedding(node, graph), Embedding(node_view, graph_view)

    def stacked(self, batch: GraphBatch, views: list[View]) -> Embedding:
        """Several Views of one batch; their rows follow one another, View by View.

        In one pass where that saves kernel calls; one by one where computing identical nodes once pays off, because a
        View makes nodes differ. The numbers are the same.
        """
        if len(views) > 1 and self._goes_by_classes(batch):
            parts = [self.stacked(batch, [view]) for view in views]
            return Embedding(*(torch.cat(part) for part in zip(*parts)))
        stack = stack_views(batch, views)
        node_emb = self._node_emb(batch, views, stack)
        return Embedding(node_emb, self.graph_rows(node_emb, batch, stack))

    def graph_rows(self, node_emb: Tensor, batch: GraphBatch, stack: Stack) -> Tensor:
        """What the readout makes of node rows; an encoder may have layers of its own after it."""
        return self.readout(node_emb, batch, stack.copies, stack.node_keep)

    def node_emb(self, batch: GraphBatch) -> Tensor:
        """The node rows alone: all that an augmenter needs."""
        return self._node_emb(batch, [View()], _ONE_COPY)

    def headed(self, batch: GraphBatch, head: nn.Module) -> Embedding:
        """`head(node_emb), graph_emb`, where `head` maps row by row: identical nodes go through it once."""
        if not self._goes_by_classes(batch):
            node_emb, graph_emb = self(batch)
            return Embedding(head(node_emb), graph_emb)
        class_emb, member = self._class_emb(batch)
        graph_emb = self.graph_rows(rows(class_emb, member), batch, _ONE_COPY)
        return Embedding(rows(head(class_emb), member), graph_emb)

    def _node_emb(self, batch: GraphBatch, views: list[View], stack: Stack) -> Tensor:
        if len(views) == 1 and self._shares_rows(batch) and views[0].starts_unchanged:
            if views[0].unchanged and not self._noisy:
                return rows(*self._class_emb(batch))
            return self._read(self.view_states(batch, stack))
        inputs = [self.inputs(batch, view.feature_keep) for view in views]
        h = inputs[0] if len(views) == 1 else torch.cat(inputs)
        return self._read(self.states(h, batch, stack, self.edge_inputs(batch)))

    def _read(self, states: Sequence[Tensor]) -> Tensor:
        """The rows that count: those after the last layer, or those of all layers side by side."""
        return torch.cat(list(states), dim=1) if self.config.layers == "all" else states[-1]

    def _goes_by_classes(self, batch: GraphBatch) -> bool:
        """Whether unchanged graphs are computed class by class; noise would make identical nodes differ."""
        return self._shares_rows(batch) and not self._noisy

    def _shares_rows(self, batch: GraphBatch) -> bool:
        """Whether what is identical in a batch is computed once, at least before the first weights or noise."""
        return self.by_classes and batch.device.type == "cpu"

    @property
    def _noisy(self) -> bool:
        return self.training and self.config.dropout > 0

    def _class_emb(self, batch: GraphBatch) -> tuple[Tensor, Tensor]:
        """A row for every class of nodes that no layer can tell apart, and the class of every node."""
        classes, edges = quotient(batch, len(self.layers)), self.edge_inputs(batch)
        h = self.inputs(batch, nodes=classes.first)
        states = []
        for layer, block, members in zip(self.layers, classes.blocks, classes.members):
            h = (layer.opening if layer is self.layers[0] else layer.of_classes)(h, block, edges)  # type: ignore[operator]
            if self.config.layers == "all" and layer is not self.layers[-1]:
                states.append(rows(h, rows(members, classes.last)))
        return self._read([*states, h]), classes.members[-1]

    def view_states(self, batch: GraphBatch, stack: Stack) -> Sequence[Tensor]:
        """The rows of a View after each layer; nodes that are still identical before the first are computed once.

        Noise is no obstacle: dropout is at the end of a layer, where every node has its own row.
        """
        classes, edges = quotient(batch, len(self.layers)), self.edge_inputs(batch)
        block = opening(batch, classes, stack.edge_keeps[0], stack.node_keeps[0])
        h = self.layers[0].opening(self.inputs(batch, nodes=classes.first), block, edges)  # type: ignore[operator]
        return [h, *_through(self.layers[1:], h, batch, stack, edges)]

    def states(self, h: Tensor, batch: GraphBatch, stack: Stack, edges: Any) -> Sequence[Tensor]:
        """The rows after each layer."""
        return _through(self.layers, h, batch, stack, edges)


def _through(layers: Iterable[nn.Module], h: Tensor, batch: GraphBatch, stack: Stack, edges: Any) -> list[Tensor]:
    states = []
    for layer in layers:
        h = layer(h, batch, stack, edges)
        states.append(h)
    return states


ENCODERS: Registry[type[Encoder]] = Registry("encoder", "adgcl.encoders")


def make_encoder(config: EncoderConfig, spec: FeatureSpec) -> Encoder:
    """Build the encoder that `config` names, for graphs with the features that `spec` describes."""
    settled = settle(config, spec)
    return ENCODERS[settled.name](settled, spec)


def settle(config: EncoderConfig, spec: FeatureSpec) -> EncoderConfig:
    """The settings with `auto` replaced by the encoder that fits the graphs, as that encoder's own settings."""
    name = config.name
    if name == AUTO:
        name = "gin" if spec.edge.empty else "gine"
    return build(ENCODERS[name].Config, {**config.model_dump(), "name": name}, "encoder")


def encoder_config(name: str) -> type[EncoderConfig]:
    """The settings of the encoder called `name`; for `auto`, which the data decides, those that all encoders share."""
    return EncoderConfig if name == AUTO else ENCODERS[name].Config
