"""Finished runs: the trained method, and new graphs brought into the shape it knows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from adgcl.data.dataset import Dataset
from adgcl.graphs.store.fingerprint import fingerprint
from adgcl.methods.base import Method
from adgcl.training.checkpoints import Checkpoint, load_checkpoint
from adgcl.training.device import keep_freed_memory, pick_device, set_threads
from adgcl.training.embedding import embed_dataset
from adgcl.training.fitting import fit_features
from adgcl.training.run_config import RunConfig
from adgcl.training.start import find_encoder
from adgcl.training.trainer import Trainer

# Embedding keeps no activations for a backward pass, so large batches fit. They are faster, because nodes that the
# network cannot tell apart are computed once a batch: that is half of the nodes of 1,024 molecules.
_EMBED_BATCH, _EMBED_NODES = 1024, 1 << 15


@dataclass(frozen=True)
class LoadedRun:
    """A trained method and what its checkpoint says."""

    path: Path
    method: Method
    checkpoint: Checkpoint

    @property
    def config(self) -> RunConfig:
        return self.checkpoint.config

    @property
    def mixtures(self) -> int:
        """How many salts and mixtures it was trained on; runs of earlier versions do not say."""
        return int(self.checkpoint.data.get("mixtures", 0))

    @classmethod
    def of(cls, trainer: Trainer) -> LoadedRun:
        """What a Trainer has just trained, as if it had been saved and loaded."""
        method, tensors = trainer.method, {f"random/{name}": state for name, state in trainer.random_states().items()}
        return cls(
            Path(),
            method,
            Checkpoint(trainer.config, method.spec, method.task, trainer.position, tensors, trainer.data),
        )

    def embed(self, dataset: Dataset, progress: Callable[[int, int], None] | None = None) -> npt.NDArray[np.float32]:
        """A row per graph, which may be new to the method but must carry the same features."""
        fitting = dataset.with_store(fit_features(dataset.store, self.checkpoint.spec))
        return embed_dataset(self.method, fitting, _EMBED_BATCH, progress, max_nodes=_EMBED_NODES)


def load_run(run: str | Path, device: str = "auto") -> LoadedRun:
    """Open a run folder, a checkpoint file or a packaged encoder for use, with as many threads as suit this machine."""
    return open_run(find_encoder(str(run)), Path(run), device)


def open_run(file: Path, place: Path, device: str = "auto") -> LoadedRun:
    """The same for a file that is known; `place` is what a person calls it."""
    checkpoint = load_checkpoint(file)
    keep_freed_memory()
    set_threads(0, checkpoint.config.encoder.hidden_dim)
    return LoadedRun(place, checkpoint.make_method(pick_device(device)), checkpoint)


def describe_data(dataset: Dataset) -> dict[str, Any]:
    """What a checkpoint remembers about its data; the fingerprint covers the graphs, since labels often go unused."""
    return {
        "name": dataset.name,
        "family": dataset.origin.family,
        "source": dataset.origin.source,
        "graphs": len(dataset),
        "unreadable": len(dataset.bad_rows),
        "mixtures": dataset.mixtures,
        "fingerprint": fingerprint(replace(dataset.store, y=None)),
    }
