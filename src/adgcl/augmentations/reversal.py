"""Gradient reversal: one backward pass that minimises for one player and maximises for the other."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from adgcl.graphs.store.view import View


class _Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, value: Tensor) -> Tensor:
        return value.view_as(value)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        return -grad


def reversed_gradient(view: View) -> View:
    """The same View; whatever minimises a loss downstream makes the augmenter maximise it."""
    edge_keep, node_keep, feature_keep = (
        None if weight is None else _Reverse.apply(weight)
        for weight in (view.edge_keep, view.node_keep, view.feature_keep)
    )
    added = None if view.added is None else replace(view.added, keep=_Reverse.apply(view.added.keep))
    return View(edge_keep, node_keep, feature_keep, added)
