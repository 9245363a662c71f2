"""Method: how to learn. It owns its networks and optimisers and defines the updates of one step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import torch
from pydantic import Field
from torch import Tensor, nn
from torch.optim import Optimizer

from adgcl.core.config import Config
from adgcl.core.errors import DataError
from adgcl.core.registry import Registry
from adgcl.core.schema import FeatureSpec, Task
from adgcl.data.dataset import Dataset
from adgcl.encoders.base import Encoder, EncoderConfig
from adgcl.graphs.kernels.precision import wide_products
from adgcl.graphs.store.batch import GraphBatch
from adgcl.graphs.store.store import GraphStore
from adgcl.parallel.collectives import average_gradients

Metrics = dict[str, Tensor]


class MethodConfig(Config):
    """Settings every method has."""

    name: str = Field("adgcl", description="which method")

    @property
    def idle(self) -> frozenset[str]:
        """Settings that decide nothing, given the others."""
        return frozenset()


class Method(nn.Module):
    """Networks plus the ordered updates of one step.

    A subclass builds its modules in `__init__` (the encoder as `self.encoder`), names its optimisers in
    `make_optimizers`, and updates in `step`. All randomness comes from the generator it is given.
    """

    Config: ClassVar[type[MethodConfig]] = MethodConfig
    # Its name in tables and messages.
    title: ClassVar[str] = ""
    # The protocol it is meant for, and others that can evaluate it; if there is none, any protocol can.
    protocol: ClassVar[str] = ""
    other_protocols: ClassVar[tuple[str, ...]] = ()
    # How it differs from what was published under its name for transfer; Records of such rows say so.
    unlike_published_transfer: ClassVar[str] = ""
    needs_labels: ClassVar[bool] = False
    # Whether those labels are computed from the graphs themselves, so that they give nothing away about any task.
    computed_labels: ClassVar[bool] = False
    needs_smiles: ClassVar[bool] = False
    # Whether nodes must carry a category, such as the element of an atom.
    needs_categories: ClassVar[bool] = False
    # Whether every seed gives the same embedding.
    deterministic: ClassVar[bool] = False
    # Whether several processes can train it together: the mean of what `step` computes from the shares of a batch is
    # what it computes from the whole (`adgcl.parallel.collectives`).
    parallel: ClassVar[bool] = False
    trains: bool = True
    encoder: Encoder

    def __init__(self, config: MethodConfig, encoder: EncoderConfig, spec: FeatureSpec, task: Task) -> None:
        super().__init__()
        if self.needs_categories and not spec.node.sizes:
            raise DataError(
                f"{self.title} predicts the categories of nodes, and these nodes have none.",
                "Use the data's own labels (--set data.features=labels), or degrees instead "
                "(--set data.features=degrees).",
            )
        self.config, self.spec, self.task = config, spec, task
        self.optimizers: dict[str, Optimizer] = {}

    @classmethod
    def check_data(cls, dataset: Dataset) -> None:
        """Refuse data that the method does not apply to, before any work is done."""
        if cls.needs_smiles and dataset.smiles is None:
            raise DataError(
                f"{dataset.name} has no SMILES to compute fingerprints from.",
                f"{cls.title} is for molecules; `adgcl methods` lists what works on any graph.",
            )

    @classmethod
    def check_training(cls, dataset: Dataset) -> None:
        """Refuse data that the method cannot learn from; by default only what it does not apply to at all."""
        cls.check_data(dataset)

    @classmethod
    def kept(cls, config: MethodConfig) -> tuple[str, ...]:
        """What `step` returns that is worth keeping in Records and showing as curves."""
        return ("loss",)

    @classmethod
    def advice(cls, config: MethodConfig, row: Mapping[str, Any]) -> str:
        """Advice after an epoch with the metrics `row`: what is going wrong and what to do; empty if all is well."""
        return ""

    @property
    def width(self) -> int:
        """Columns of an embedding."""
        return self.encoder.graph_dim

    def make_optimizers(self) -> dict[str, Optimizer]:
        """One optimiser per player, made after the networks are on their device."""
        return {}

    def prepare(self, device: torch.device) -> None:
        """Move to `device` and make the optimisers."""
        self.to(device)
        self.optimizers = self.make_optimizers()

    def begin(self, store: GraphStore) -> GraphStore:
        """Look at the graphs once, before the first step; training uses those it returns."""
        return store

    def step(self, batch: GraphBatch, generator: torch.Generator) -> Metrics:
        """Update on one batch; return what is worth showing, as tensors without gradient."""
        raise TypeError(f"{type(self).__name__} must define step")

    def end_epoch(self) -> None:
        """Called after the last step of an epoch; what it needs belongs in buffers, so that checkpoints have it."""

    def update(self, loss: Tensor, *players: str) -> None:
        """One optimiser step of the named players on `loss`, which other processes may have a part of."""
        optimizers = [self.optimizers[player] for player in players]
        parameters = [p for optimizer in optimizers for group in optimizer.param_groups for p in group["params"]]
        for parameter in parameters:
            parameter.grad = None
        # Gradients follow the number types of the forward pass; casting them again would be wrong.
        with wide_products(loss.device):
            loss.backward()  # type: ignore[no-untyped-call]
        average_gradients(parameters)
        for optimizer in optimizers:
            optimizer.step()

    @torch.no_grad()
    def embed(self, batch: GraphBatch) -> Tensor:
        """Graph embeddings in evaluation mode."""
        self.encoder.eval()
        return self.encoder(batch).graph_emb.float()

    def embed_dataset(self, dataset: Dataset) -> npt.NDArray[np.float32] | None:
        """A row per graph from what a Dataset holds besides its graphs; None leaves it to `embed`, batch by batch."""
        return None


METHODS: Registry[type[Method]] = Registry("method", "adgcl.methods")


@contextmanager
def frozen(optimizer: Optimizer) -> Iterator[None]:
    """No gradients for a player's parameters, which saves their part of the backward pass."""
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    for parameter in parameters:
        parameter.requires_grad_(False)
    try:
        yield
    finally:
        for parameter in parameters:
            parameter.requires_grad_(True)


def switch(module: nn.Module, training: bool) -> None:
    """`module.train(training)` without the walk through the tree, which is done once."""
    if module.training != training:
        parts = module.__dict__.get("_parts") or module.__dict__.setdefault("_parts", list(module.modules()))
        for part in parts:
            part.__dict__["training"] = training
