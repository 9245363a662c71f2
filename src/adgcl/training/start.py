"""Starting from a trained encoder: that of a run, of a checkpoint file, or one that comes with the package."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from adgcl.core.config import differences
from adgcl.core.errors import CheckpointError, did_you_mean
from adgcl.core.schema import Features, FeatureSpec
from adgcl.encoders.base import EncoderConfig, settle
from adgcl.graphs.store.store import GraphStore
from adgcl.methods.base import Method
from adgcl.training.checkpoints import Checkpoint, load_checkpoint
from adgcl.training.fitting import fit_features
from adgcl.training.packaged import packaged_encoders, packaged_file
from adgcl.training.run_folder import RunFolder

_PREFIX = "network/encoder."


def find_encoder(start_from: str) -> Path:
    """The checkpoint that `start_from` names: a run folder, a checkpoint file, or a packaged encoder."""
    path = Path(start_from).expanduser()
    if path.is_dir() and RunFolder(path).checkpoint.exists():
        return RunFolder(path).checkpoint
    if path.is_file():
        return path
    if start_from in packaged_encoders():
        return packaged_file(start_from)
    if members := sorted(path.glob("member-*.safetensors")):
        raise CheckpointError(
            f"{start_from} is a fine-tuned model of several networks.",
            f"Give one of them, such as {members[0]}.",
        )
    raise CheckpointError(
        f"There is no run, checkpoint or packaged encoder called {start_from!r}.",
        "Give the folder that `adgcl pretrain --out` made, or a packaged encoder. "
        + did_you_mean(start_from, packaged_encoders()),
    )


def prepare_store(store: GraphStore, checkpoint: Checkpoint) -> GraphStore:
    """The graphs described as the trained encoder knows them; an error says which features differ."""
    return fit_features(store, checkpoint.spec)


def start_from(method: Method, checkpoint: Checkpoint, called: str) -> str:
    """Give the method's encoder the trained weights; returns their checksum."""
    _check_same_network(method.encoder.config, method.spec, checkpoint, called)
    weights = encoder_weights(checkpoint.tensors)
    module: nn.Module = method.encoder
    try:
        module.load_state_dict(weights)
    except RuntimeError as error:
        raise CheckpointError(
            f"The encoder of {called} does not fit the networks of this version.",
            "Use the version of adgcl that wrote it, or train it again.",
        ) from error
    return checksum(weights)


def encoder_origin(start_from: str) -> dict[str, Any]:
    """What there is to know about a trained encoder: its weights' checksum, and how and on what it was trained."""
    path = find_encoder(start_from)
    about = path.stat()
    return dict(_origin(path, about.st_mtime_ns, about.st_size))


@lru_cache(maxsize=16)
def _origin(path: Path, modified: int, size: int) -> dict[str, Any]:
    """Read once for all seeds that start from it; a file that has changed counts as a new one."""
    checkpoint = load_checkpoint(path)
    return {
        "checksum": checksum(encoder_weights(checkpoint.tensors)),
        "method": checkpoint.config.method.name,
        "epochs": checkpoint.position.epoch,
        "data": str(checkpoint.data.get("name", "")),
        "graphs": checkpoint.data.get("graphs"),
    }


def encoder_weights(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors of a checkpoint that belong to its encoder."""
    return {name.removeprefix(_PREFIX): value for name, value in tensors.items() if name.startswith(_PREFIX)}


def checksum(weights: Mapping[str, Tensor]) -> str:
    """SHA-256 over names and numbers."""
    digest = hashlib.sha256()
    for name in sorted(weights):
        digest.update(name.encode())
        digest.update(weights[name].detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()


def _check_same_network(ours: EncoderConfig, spec: FeatureSpec, checkpoint: Checkpoint, called: str) -> None:
    for what, mine, theirs in (("node", spec.node, checkpoint.spec.node), ("edge", spec.edge, checkpoint.spec.edge)):
        if (mine.sizes, mine.num_dim) != (theirs.sizes, theirs.num_dim):
            raise CheckpointError(
                f"{called} was trained on other {what} features: {_columns(theirs)} there, {_columns(mine)} here.",
                "Use data of the same kind, or train without --start-from.",
            )
    found = differences(settle(checkpoint.config.encoder, checkpoint.spec).shape(), ours.shape())
    if found:
        raise CheckpointError(
            f"The encoder of {called} has a different shape ({'; '.join(found)}).",
            "Use the encoder settings of the run it comes from (its config.json).",
        )


def _columns(features: Features) -> str:
    return f"categories {list(features.sizes)} and {features.num_dim} real columns"
