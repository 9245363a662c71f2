"""Heads: small networks on top of an encoder, and how everything linear is initialised."""

from __future__ import annotations

from torch import Tensor, nn


class ProjectionHead(nn.Sequential):
    """The two-layer map in front of a contrastive loss: `z = W2 relu(W1 graph_emb)`; thrown away after training."""

    def __init__(self, in_dim: int, hidden_dim: int | None = None, out_dim: int | None = None) -> None:
        hidden, out = hidden_dim or in_dim, out_dim or in_dim
        super().__init__(nn.Linear(in_dim, hidden), nn.ReLU(), nn.Linear(hidden, out))

    def forward(self, graph_emb: Tensor) -> Tensor:
        z: Tensor = super().forward(graph_emb)
        return z


def initialise(module: nn.Module) -> None:
    """Xavier-uniform weights and zero biases for every linear layer, as the authors do.

    An encoder with another start (`own_start`, `initial_weights`) keeps it, and so does all that goes with it.
    """
    if any(getattr(part, "own_start", False) for part in module.modules()):
        return
    for part in module.modules():
        if isinstance(part, nn.Linear):
            nn.init.xavier_uniform_(part.weight)
            if part.bias is not None:
                nn.init.zeros_(part.bias)
