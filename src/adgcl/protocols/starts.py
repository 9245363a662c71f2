"""Where a model that learns from labels started: which row of a table it is, and what its Record says about it."""

from __future__ import annotations

from adgcl.core.words import counted
from adgcl.methods.base import METHODS
from adgcl.training.run_config import RunConfig
from adgcl.training.start import encoder_origin

# The row for models trained from scratch.
NO_PRETRAINING = "no_pretrain"
_PLAIN = "supervised"
# What a Record says instead of a checksum if there are several encoders.
EACH_SEED = "every seed has an encoder of its own."


def row_of_start(run: RunConfig, asked: str) -> str:
    """Tables have a row for every way of pre-training, and one for none; a method of its own keeps its name."""
    name = asked or run.method.name
    if name != _PLAIN:
        return name
    start = run.training.start_from
    return str(encoder_origin(start)["method"]) if start else NO_PRETRAINING


def notes_of_start(run: RunConfig) -> list[str]:
    """What the encoder had learned before it saw labels, and how that differs from what was published."""
    start = run.training.start_from
    method = str(encoder_origin(start)["method"]) if start else ""
    unlike = METHODS[method].unlike_published_transfer if method in METHODS else ""
    return [note_of_start(run), *([unlike] if unlike else [])]


def note_of_start(run: RunConfig, each_seed: bool = False) -> str:
    """What the encoder had learned before it saw labels."""
    if not run.training.start_from:
        return "No pre-training: the encoder started from random weights."
    origin = encoder_origin(run.training.start_from)
    title = METHODS[origin["method"]].title if origin["method"] in METHODS else origin["method"]
    epochs = counted(origin["epochs"], "epoch")
    graphs = f" ({origin['graphs']:,} graphs)" if origin["graphs"] else ""
    about = f"The encoder was pre-trained by {title}, {epochs} on {origin['data'] or 'unknown data'}{graphs}"
    return f"{about}; " + (EACH_SEED if each_seed else f"SHA-256 of its weights {origin['checksum'][:12]}.")
