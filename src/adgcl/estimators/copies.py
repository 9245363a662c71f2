"""Trained methods as bytes: what pickle and joblib carry of a fitted estimator, in the safetensors format."""

from __future__ import annotations

from pathlib import Path

from adgcl.training.checkpoints import checkpoint_from_bytes, networks_as_bytes
from adgcl.training.device import pick_device
from adgcl.training.runs import LoadedRun


def to_bytes(run: LoadedRun) -> bytes:
    """The networks of a run and what its checkpoint says; optimisers are left out."""
    return networks_as_bytes(run.method, run.config, run.checkpoint.position, run.checkpoint.data)


def from_bytes(content: bytes, device: str) -> LoadedRun:
    """What `to_bytes` gave, ready for use."""
    checkpoint = checkpoint_from_bytes(content)
    return LoadedRun(Path(), checkpoint.make_method(pick_device(device)), checkpoint)
