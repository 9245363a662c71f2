"""Checkpoints: networks, optimisers and random states in one safetensors file, never a pickle."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load, save, save_file
from torch import Tensor

from adgcl.core.errors import CheckpointError
from adgcl.core.files import atomic_write
from adgcl.core.schema import FeatureSpec, Task
from adgcl.methods.base import METHODS, Method
from adgcl.methods.encoder_alone import EncoderAlone
from adgcl.training.run_config import RunConfig, resolve

FORMAT = "adgcl-checkpoint-1"


@dataclass
class Position:
    """Where a run is: finished epochs, finished steps of the next one, and its running sums."""

    epoch: int = 0
    step: int = 0
    sums: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Checkpoint:
    """What a checkpoint file says."""

    config: RunConfig
    spec: FeatureSpec
    task: Task
    position: Position
    tensors: dict[str, Tensor]
    data: dict[str, Any]
    encoder_alone: bool = False

    def make_method(self, device: torch.device | None = None) -> Method:
        """The method with its saved networks and optimisers, or only its encoder if that is all there is."""
        made = EncoderAlone if self.encoder_alone else METHODS[self.config.method.name]
        method = made(self.config.method, self.config.encoder, self.spec, self.task)
        method.prepare(device or torch.device("cpu"))
        restore(method, self)
        return method


def save_checkpoint(
    path: Path, method: Method, config: RunConfig, position: Position, random: dict[str, Tensor], data: dict[str, Any]
) -> None:
    """Write the whole state of a run in one atomic step; the same state gives the same bytes."""
    tensors = {f"random/{name}": state for name, state in random.items()}
    for player, optimizer in method.optimizers.items():
        for index, state in optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer/{player}/{index}/{key}": value for key, value in state.items()}
    packed, metadata = _packed(method, config, position, data, tensors)
    atomic_write(path, lambda part: save_file(packed, part, metadata=metadata))


def save_networks(path: Path, method: Method, config: RunConfig, position: Position, data: dict[str, Any]) -> None:
    """Write what is needed to use a method but not to train it further: a third of a checkpoint's size."""
    packed, metadata = _packed(method, config, position, data)
    atomic_write(path, lambda part: save_file(packed, part, metadata=metadata))


def networks_as_bytes(method: Method, config: RunConfig, position: Position, data: dict[str, Any]) -> bytes:
    """The same in memory, for moving a trained method between processes."""
    packed, metadata = _packed(method, config, position, data)
    content: bytes = save(packed, metadata=metadata)
    return content


def _packed(
    method: Method,
    config: RunConfig,
    position: Position,
    data: dict[str, Any],
    others: Mapping[str, Tensor] = MappingProxyType({}),
) -> tuple[dict[str, Tensor], dict[str, str]]:
    """The tensors and metadata of a checkpoint file."""
    tensors = {**{f"network/{name}": value for name, value in method.state_dict().items()}, **others}
    about: dict[str, Any] = {
        "format": FORMAT,
        "config": config.to_tree(),
        "spec": method.spec.to_json(),
        "task": method.task.to_json(),
        "progress": vars(position),
        "data": data,
    }
    if isinstance(method, EncoderAlone):
        about["encoder_alone"] = True
    packed = {name: value.detach().cpu().contiguous().clone() for name, value in tensors.items()}
    # One metadata entry: with several, the file's bytes would depend on the order of a hash map.
    return packed, {"adgcl": json.dumps(about, sort_keys=True)}


def load_checkpoint(path: Path) -> Checkpoint:
    """Read a checkpoint file."""
    try:
        with safe_open(path, framework="pt") as file:
            about = json.loads((file.metadata() or {}).get("adgcl", "{}"))
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except FileNotFoundError as error:
        raise CheckpointError(
            f"There is no checkpoint at {path}.", "Give the folder that `adgcl pretrain --out` made."
        ) from error
    except (SafetensorError, OSError, ValueError) as error:
        raise CheckpointError(
            f"{path} is not a readable checkpoint: {error}.", "Train again, or restore the file."
        ) from error
    return _checkpoint(about, tensors, str(path))


def checkpoint_from_bytes(content: bytes) -> Checkpoint:
    """What `networks_as_bytes` gave."""
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    return _checkpoint(json.loads(header["__metadata__"]["adgcl"]), load(content), "The copy in memory")


def _checkpoint(about: dict[str, Any], tensors: dict[str, Tensor], path: str) -> Checkpoint:
    if about.get("format") != FORMAT:
        found = about.get("format", "none")
        raise CheckpointError(
            f"{path} has checkpoint format {found!r}; this version reads {FORMAT!r}.",
            "Use the version of adgcl that wrote it, or train again.",
        )
    return Checkpoint(
        config=resolve(about["config"]),
        spec=FeatureSpec.from_json(about["spec"]),
        task=Task.from_json(about["task"]),
        position=Position(**about["progress"]),
        tensors=tensors,
        data=about["data"],
        encoder_alone=bool(about.get("encoder_alone", False)),
    )


def restore(method: Method, checkpoint: Checkpoint) -> None:
    """Put a checkpoint's networks and optimisers into `method`."""
    network = _below(checkpoint.tensors, "network")
    try:
        method.load_state_dict(network)
    except RuntimeError as error:
        raise CheckpointError(
            "The checkpoint does not fit the networks of this version.",
            "Use the version of adgcl that wrote it, or train again.",
        ) from error
    for player, optimizer in method.optimizers.items():
        saved = _below(checkpoint.tensors, f"optimizer/{player}")
        if not saved:
            continue  # Networks alone: enough to use them.
        state: dict[int, dict[str, Tensor]] = {}
        for name, value in saved.items():
            index, key = name.split("/")
            state.setdefault(int(index), {})[key] = value
        optimizer.load_state_dict({**optimizer.state_dict(), "state": state})


def random_states(checkpoint: Checkpoint) -> dict[str, Tensor]:
    return _below(checkpoint.tensors, "random")


def _below(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name[len(prefix) + 1 :]: value for name, value in tensors.items() if name.startswith(f"{prefix}/")}
