"""Starting settings: a run that starts from a trained encoder takes that encoder's shape and features."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adgcl.core.config import Tree
from adgcl.core.errors import ConfigError
from adgcl.encoders.base import settle
from adgcl.training.checkpoints import Checkpoint, load_checkpoint
from adgcl.training.start import find_encoder

_OF_FINE_TUNING = {"dropout", "centre", "initial_weights"}


def like_its_origin(shipped: Tree, asked: Mapping[str, Any]) -> Tree:
    """Settings of a preset, with encoder and features as in the run that `asked` starts from, if it names one.

    What fine-tuning wants otherwise than pre-training, and no weight depends on, stays as the preset has it: dropout,
    the centre node of a protein's neighbourhood, and how the new head starts.
    """
    start = asked.get("training", {}).get("start_from") or shipped.get("training", {}).get("start_from")
    if not start:
        return shipped
    origin = load_checkpoint(find_encoder(start))
    _refuse_another(start, origin, asked)
    encoder = settle(origin.config.encoder, origin.spec).model_dump(mode="json", exclude=_OF_FINE_TUNING - {"centre"})
    own = {name: value for name, value in shipped.get("encoder", {}).items() if name in _OF_FINE_TUNING}
    return {**shipped, "encoder": {**encoder, **own}, "data": origin.config.data.model_dump(mode="json")}


def _refuse_another(start: str, origin: Checkpoint, asked: Mapping[str, Any]) -> None:
    """An encoder that is trained has its kind and reads atoms in its way."""
    fixed = {"encoder.name": origin.config.encoder.name, "data.atom_features": origin.config.data.atom_features}
    for setting, has in fixed.items():
        section, _, name = setting.partition(".")
        wanted = asked.get(section, {}).get(name, has)
        if wanted != has:
            raise ConfigError(
                f"{start} was trained with {setting}={has}, which cannot become {wanted}.",
                f"Leave {setting} out, or start from another encoder.",
            )
