"""Which runs have a compiled step: the method, its settings and the processor decide."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import torch

from adgcl.graphs.store.batch import GraphBatch
from adgcl.methods.adgcl import ADGCL
from adgcl.methods.base import Method, Metrics

Step = Callable[[GraphBatch, torch.Generator], Metrics]

# Products in panels of 32 columns; above 96 the products of a library are faster.
_WIDTHS = (32, 64, 96)
# Up to this width a step is too small to share between cores.
_NARROW = 64
_PANEL = 32


def compiled_step(method: Method) -> Step | None:
    """A compiled twin of `method.step`, or None where the settings have none."""
    # Exactly this class: a subclass may have a step of its own.
    if type(method) is not ADGCL or why_plain(method):
        return None
    from adgcl.compiled.adgcl import CompiledADGCL

    return CompiledADGCL(method)


def why_plain(method: ADGCL) -> str:
    """What keeps AD-GCL from a compiled step; empty if nothing does."""
    config, encoder = method.config, method.encoder.config
    reasons = {
        "the device is not the processor": next(method.parameters()).device.type != "cpu",
        "the augmenter does more than drop edges": config.augmentations != ("edge_drop",),
        "the encoder is not GIN": encoder.name != "gin",
        "the width is not 32, 64 or 96": encoder.hidden_dim not in _WIDTHS,
        "more than one core works on a step": encoder.hidden_dim > _NARROW and torch.get_num_threads() > 1,
        "layers have dropout or no normalisation": encoder.dropout > 0 or not encoder.batch_norm,
        "graphs are read out by their maximum": encoder.readout == "max",
        "gate.mlp_dim is not a multiple of 32": config.gate.mlp_dim % _PANEL != 0,
        processor_lacks(): bool(processor_lacks()),
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


@cache
def processor_lacks() -> str:
    """What this processor lacks for compiled steps to be faster than torch's; empty if nothing."""
    from llvmlite.binding import get_host_cpu_features

    features = get_host_cpu_features()
    missing = [name for name in ("avx2", "fma") if not features.get(name)]
    return f"the processor has no {' and no '.join(missing)}" if missing else ""
