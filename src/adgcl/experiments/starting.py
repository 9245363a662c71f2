"""Starting settings: a run that starts from a trained encoder takes that encoder's shape and features."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adgcl.core.config import Tree
from adgcl.encoders.base import settle
from adgcl.training.checkpoints import load_checkpoint
from adgcl.training.start import find_encoder


def like_its_origin(shipped: Tree, asked: Mapping[str, Any]) -> Tree:
    """Settings of a preset, with encoder and features as in the run that `asked` starts from, if it names one.

    Dropout stays the preset's: it has no weights, and fine-tuning wants more of it than pre-training.
    """
    start = asked.get("training", {}).get("start_from") or shipped.get("training", {}).get("start_from")
    if not start:
        return shipped
    origin = load_checkpoint(find_encoder(start))
    encoder = settle(origin.config.encoder, origin.spec).model_dump(mode="json", exclude={"dropout"})
    dropout = {name: value for name, value in shipped.get("encoder", {}).items() if name == "dropout"}
    return {**shipped, "encoder": {**encoder, **dropout}, "data": origin.config.data.model_dump(mode="json")}
