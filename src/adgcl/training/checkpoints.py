"""Checkpoints: networks, optimisers and random states in one safetensors file, never a pickle."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import torch
from pydantic import BaseModel, Field
from safetensors import SafetensorError, safe_open
from safetensors.torch import load, save
from torch import Tensor
from torch.optim import Optimizer

from adgcl.core.errors import CheckpointError, ConfigError
from adgcl.core.files import write_bytes
from adgcl.core.schema import FeatureSpec, Task
from adgcl.core.trees import TreeError, fitted, parse_json
from adgcl.methods.base import METHODS, Method
from adgcl.methods.encoder_alone import EncoderAlone
from adgcl.training.run_config import RunConfig, resolve

FORMAT = "adgcl-checkpoint-1"
_AGAIN = "Use the version of adgcl that wrote it, or train again."
_RESTORE = "Train again, or restore the file."
_SMALL = 1 << 16  # weights that fit into any memory


@dataclass
class Position:
    """Where a run is: finished epochs, finished steps of the next one, and its running sums."""

    epoch: int = 0
    step: int = 0
    sums: dict[str, float] = field(default_factory=dict)


class _Progress(BaseModel):
    """A Position as a file has it."""

    epoch: int = Field(0, ge=0)
    step: int = Field(0, ge=0)
    sums: dict[str, float] = {}


class _About(BaseModel):
    """What a checkpoint file says besides its tensors."""

    config: dict[str, dict[str, Any]]
    spec: dict[str, Any]
    task: dict[str, Any]
    progress: _Progress
    data: dict[str, Any]
    encoder_alone: bool = False


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
        self._check_size()
        made = EncoderAlone if self.encoder_alone else METHODS[self.config.method.name]
        method = made(self.config.method, self.config.encoder, self.spec, self.task)
        method.prepare(device or torch.device("cpu"))
        restore(method, self)
        return method

    def _check_size(self) -> None:
        """Refuse settings that would fill the memory with networks far larger than those that were saved."""
        rows = sum(self.spec.node.sizes) + sum(self.spec.edge.sizes)
        saved = sum(tensor.numel() for tensor in _below(self.tensors, "network").values())
        if saved and rows > max(saved, _SMALL):
            raise CheckpointError(
                f"The checkpoint describes {rows:,} categories, but its networks have {saved:,} weights.", _AGAIN
            )


def save_checkpoint(
    path: Path, method: Method, config: RunConfig, position: Position, random: dict[str, Tensor], data: dict[str, Any]
) -> None:
    """Write the whole state of a run in one atomic step; the same state gives the same bytes."""
    tensors = {f"random/{name}": state for name, state in random.items()}
    for player, optimizer in method.optimizers.items():
        for index, state in optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer/{player}/{index}/{key}": value for key, value in state.items()}
    packed, metadata = _packed(method, config, position, data, tensors)
    write_bytes(path, save(packed, metadata=metadata))


def save_networks(path: Path, method: Method, config: RunConfig, position: Position, data: dict[str, Any]) -> None:
    """Write what is needed to use a method but not to train it further: a third of a checkpoint's size."""
    packed, metadata = _packed(method, config, position, data)
    write_bytes(path, save(packed, metadata=metadata))


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
            about = parse_json((file.metadata() or {}).get("adgcl", "{}"))
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except FileNotFoundError as error:
        raise CheckpointError(
            f"There is no checkpoint at {path}.", "Give the folder that `adgcl pretrain --out` made."
        ) from error
    except (SafetensorError, OSError, TreeError, AttributeError, RuntimeError) as error:
        # torch has no name for some of the number types that the format allows.
        raise CheckpointError(f"{path} is not a readable checkpoint: {error}.", _RESTORE) from error
    return _checkpoint(about, tensors, str(path))


def checkpoint_from_bytes(content: bytes) -> Checkpoint:
    """What `networks_as_bytes` gave."""
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    return _checkpoint(json.loads(header["__metadata__"]["adgcl"]), load(content), "The copy in memory")


def _checkpoint(about: Any, tensors: dict[str, Tensor], path: str) -> Checkpoint:
    found = about.get("format", "none") if isinstance(about, dict) else "none"
    if found != FORMAT:
        raise CheckpointError(f"{path} has checkpoint format {found!r}; this version reads {FORMAT!r}.", _AGAIN)
    try:
        known = fitted(_About, about)
        return Checkpoint(
            config=resolve(known.config),
            spec=FeatureSpec.from_json(known.spec),
            task=Task.from_json(known.task),
            position=Position(**dict(known.progress)),
            tensors=tensors,
            data=known.data,
            encoder_alone=known.encoder_alone,
        )
    except TreeError as error:
        raise CheckpointError(f"{path} is damaged: {error}.", _RESTORE) from error
    except ConfigError as error:
        raise CheckpointError(f"{path} has settings that this version cannot read: {error.message}", _AGAIN) from error


def restore(method: Method, checkpoint: Checkpoint) -> None:
    """Put a checkpoint's networks and optimisers into `method`."""
    network = _below(checkpoint.tensors, "network")
    try:
        method.load_state_dict(network)
    except RuntimeError as error:
        raise CheckpointError("The checkpoint does not fit the networks of this version.", _AGAIN) from error
    for player, optimizer in method.optimizers.items():
        saved = _below(checkpoint.tensors, f"optimizer/{player}")
        if not saved:
            continue  # Networks alone: enough to use them.
        optimizer.load_state_dict({**optimizer.state_dict(), "state": _optimizer_state(optimizer, player, saved)})


def _optimizer_state(optimizer: Optimizer, player: str, saved: dict[str, Tensor]) -> dict[int, dict[str, Tensor]]:
    """What an optimiser remembers about each parameter: scalars, or tensors of the parameter's own shape."""
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    state: dict[int, dict[str, Tensor]] = {}
    for name, value in saved.items():
        index, _, key = name.partition("/")
        number = int(index) if index.isdecimal() else len(parameters)
        if number >= len(parameters) or (value.dim() and value.shape != parameters[number].shape):
            raise CheckpointError(f"The checkpoint does not fit the optimiser of its {player}.", _AGAIN)
        state.setdefault(number, {})[key] = value
    if len({frozenset(known) for known in state.values()}) > 1:
        raise CheckpointError(f"The checkpoint lacks part of what the optimiser of its {player} remembers.", _AGAIN)
    return state


def random_states(checkpoint: Checkpoint) -> dict[str, Tensor]:
    """The states of the run's random generators, by name; none where only networks were saved."""
    return _below(checkpoint.tensors, "random")


def _below(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name[len(prefix) + 1 :]: value for name, value in tensors.items() if name.startswith(f"{prefix}/")}
