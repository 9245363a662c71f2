"""Gradient reversal: one backward pass that minimises for one player and maximises for the other."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from adgcl.graphs.view import View


class _Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, value: Tensor) -> Tensor:
        return value.view_as(value)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        return -grad


def reversed_gradient(view: View) -> View:
    """The same View; whatever minimises a loss downstream makes the augmenter maximise it."""
    flipped = (None if w is None else _Reverse.apply(w) for w in (view.edge_keep, view.node_keep, view.feature_keep))
    return View(*flipped)
