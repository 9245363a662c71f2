"""Encoder files: the encoder of a run without the rest, small enough to be passed on."""

from __future__ import annotations

from pathlib import Path, PurePath
from typing import Any

import torch
from torch import Tensor

from adgcl.core.errors import CheckpointError
from adgcl.methods.base import METHODS
from adgcl.methods.encoder_alone import EncoderAlone
from adgcl.training.checkpoints import Checkpoint, save_networks
from adgcl.training.start import encoder_weights


def save_encoder(path: Path, checkpoint: Checkpoint, *, half: bool = True) -> None:
    """Write the encoder of a checkpoint; `half` keeps its matrices in 16 bits, which halves the file.

    Rows and single numbers stay in 32 bits: they take no room, and the variances of a normalisation may exceed what 16
    bits can hold.
    """
    method = encoder_of(checkpoint)
    if half:
        for name, value in method.named_parameters():
            if value.dim() > 1:
                value.data = _halved(name, value.data)
    # Where the run itself started is a place on one machine; the checksum in `data` says what was there.
    config = checkpoint.config.with_training(start_from="")
    save_networks(path, method, config, checkpoint.position, _without_place(checkpoint.data))


def _without_place(data: dict[str, Any]) -> dict[str, Any]:
    """What is known about the data, of a file only its name: its folder is nobody else's business."""
    if data.get("family") != "own" or not isinstance(data.get("source"), str):
        return data
    return {**data, "source": PurePath(data["source"]).name}


def encoder_of(checkpoint: Checkpoint) -> EncoderAlone:
    """The trained encoder of a checkpoint, without the networks around it."""
    weights = encoder_weights(checkpoint.tensors)
    if not weights:
        title = METHODS[checkpoint.config.method.name].title
        raise CheckpointError(f"{title} has no encoder to write.", "Give a run of a method that trains one.")
    method = EncoderAlone(checkpoint.config.method, checkpoint.config.encoder, checkpoint.spec, checkpoint.task)
    method.encoder.load_state_dict(weights)
    return method


def _halved(name: str, value: Tensor) -> Tensor:
    halved = value.to(torch.float16)
    if not bool(halved.isfinite().all()):
        raise CheckpointError(f"{name} has numbers that 16 bits cannot hold.", "Write the encoder with --full.")
    return halved
