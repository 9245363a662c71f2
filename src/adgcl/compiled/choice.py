"""Which runs have a compiled step: the method, its settings and the processor decide."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module

import torch

from adgcl.encoders.base import EncoderConfig
from adgcl.graphs.store.batch import GraphBatch
from adgcl.methods.adgcl import ADGCL
from adgcl.methods.base import Method, Metrics
from adgcl.methods.graphcl import GraphCL
from adgcl.methods.joao import JOAO
from adgcl.methods.joaov2 import JOAOv2
from adgcl.methods.nadgcl import NADGCL

Step = Callable[[GraphBatch, torch.Generator], Metrics]

# Module and class of the compiled step of every method that has one.
_STEPS: dict[type[Method], tuple[str, str]] = {
    ADGCL: ("steps", "CompiledADGCL"),
    NADGCL: ("steps", "CompiledNADGCL"),
    GraphCL: ("view_steps", "CompiledGraphCL"),
    JOAO: ("view_steps", "CompiledJOAO"),
    JOAOv2: ("view_steps", "CompiledJOAO"),
}
# Their own steps, which those were written after.
_WRITTEN = {method: method.step for method in _STEPS}
# Products work on panels of 32 columns; above 96, library products are faster.
_WIDTHS = (32, 64, 96)
# Up to this width a step is too small to share between cores.
_NARROW = 64
_PANEL = 32


def compiled_step(method: Method) -> Step | None:
    """A compiled twin of `method.step`, or None where there is none."""
    if why_plain(method):
        return None
    # Imported here: declaring the loops takes time that other runs need not wait for.
    module, name = _STEPS[type(method)]
    step: Step = getattr(import_module(f"adgcl.compiled.{module}"), name)(method)
    return step


def methods_with_one() -> list[str]:
    """The titles of the methods that have a compiled step."""
    return [method.title for method in _STEPS]


def why_plain(method: Method) -> str:
    """Why a method has no compiled step; empty if it has one."""
    # Exactly these classes: a subclass may have a step of its own.
    if type(method) not in _STEPS:
        return f"{type(method).title or 'the method'} has none"
    if getattr(method.step, "__func__", None) is not _WRITTEN[type(method)]:
        return "the method's own step was replaced"
    if next(method.parameters()).device.type != "cpu":
        return "the device is not the processor"
    return _of_encoder(method.encoder.config) or _of_augmenter(method) or processor_lacks()


def _of_encoder(config: EncoderConfig) -> str:
    reasons = {
        "the encoder is not GIN": config.name != "gin",
        "the width is not 32, 64 or 96": config.hidden_dim not in _WIDTHS,
        "more than one core works on a step": config.hidden_dim > _NARROW and torch.get_num_threads() > 1,
        "layers have dropout or no normalisation": config.dropout > 0 or not config.batch_norm,
        "graphs are read out by their maximum": config.readout == "max",
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


def _of_augmenter(method: Method) -> str:
    if not isinstance(method, ADGCL):
        return ""
    if method.config.augmentations != ("edge_drop",):
        return "the augmenter does more than drop edges"
    return "gate.mlp_dim is not a multiple of 32" if method.config.gate.mlp_dim % _PANEL else ""


@cache
def processor_lacks() -> str:
    """What this processor lacks for a compiled step to be faster than torch's; empty if nothing."""
    from llvmlite.binding import get_host_cpu_features

    features = get_host_cpu_features()
    missing = [name.upper() for name in ("avx2", "fma") if not features.get(name)]
    return f"the processor has no {' and no '.join(missing)}" if missing else ""
