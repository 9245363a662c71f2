"""Method: how to learn. It owns its networks and optimisers and defines the updates of one step."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.optim import Optimizer

from adgcl.core.config import Config
from adgcl.core.registry import Registry
from adgcl.core.schema import FeatureSpec, Task
from adgcl.encoders.base import Encoder, EncoderConfig
from adgcl.graphs.batch import GraphBatch

Metrics = dict[str, Tensor]


class MethodConfig(Config):
    """Settings every method has."""

    name: str = Field("adgcl", description="which method")


class Method(nn.Module):
    """Networks plus the ordered updates of one step.

    A subclass builds its modules in `__init__` (the encoder as `self.encoder`), names its optimisers in
    `make_optimizers`, and updates in `step`. All randomness comes from the generator it is given.
    """

    Config: ClassVar[type[MethodConfig]] = MethodConfig
    title: ClassVar[str] = ""
    trains: bool = True
    encoder: Encoder

    def __init__(self, config: MethodConfig, encoder: EncoderConfig, spec: FeatureSpec, task: Task) -> None:
        super().__init__()
        self.config, self.spec, self.task = config, spec, task
        self.optimizers: dict[str, Optimizer] = {}

    def make_optimizers(self) -> dict[str, Optimizer]:
        """One optimiser per player, made after the networks are on their device."""
        return {}

    def prepare(self, device: torch.device) -> None:
        """Move to `device` and make the optimisers."""
        self.to(device)
        self.optimizers = self.make_optimizers()

    def step(self, batch: GraphBatch, generator: torch.Generator) -> Metrics:
        """Update on one batch; return what is worth showing, as tensors without gradient."""
        raise TypeError(f"{type(self).__name__} must define step")

    def update(self, loss: Tensor, *players: str) -> None:
        """One optimiser step of the named players on `loss`."""
        optimizers = [self.optimizers[player] for player in players]
        for optimizer in optimizers:
            for group in optimizer.param_groups:
                for parameter in group["params"]:
                    parameter.grad = None
        # Gradients follow the number types of the forward pass; casting them again would be wrong.
        with torch.autocast(loss.device.type, enabled=False):
            loss.backward()  # type: ignore[no-untyped-call]
        for optimizer in optimizers:
            optimizer.step()

    @torch.no_grad()
    def embed(self, batch: GraphBatch) -> Tensor:
        """Graph embeddings in evaluation mode."""
        self.encoder.eval()
        return self.encoder(batch).graph_emb.float()


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
    """`module.train(training)` without the walk through the tree when nothing is to change."""
    if module.training != training:
        for part in module.modules():
            part.__dict__["training"] = training
