"""Precision: which products are computed in 16 bits."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import torch


def wide_products(device: torch.device) -> AbstractContextManager[object]:
    """A context without 16-bit products; free where there are none to begin with."""
    kind = device.type
    return torch.autocast(kind, enabled=False) if torch.is_autocast_enabled(kind) else nullcontext()
