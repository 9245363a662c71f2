"""Yardsticks: baselines that need no pre-training, evaluated on the same folds as a user's own run."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from adgcl.data.dataset import Dataset
from adgcl.methods.base import METHODS
from adgcl.training.embedding import embed_dataset
from adgcl.training.run_config import RunConfig, resolve
from adgcl.training.trainer import build_method


def yardsticks(dataset: Dataset, run: RunConfig) -> list[RunConfig]:
    """The run's encoder untrained; fingerprints for molecules or statistics for other graphs; and a constant guess."""
    names = ["random_init", "statistics" if dataset.smiles is None else "ecfp", "constant"]
    own = run.method.name
    # A run that learns nothing has no encoder to compare with.
    encoder = run.encoder.model_dump() if METHODS[own].trains else {}
    training = {"epochs": 0, "seed": run.training.seed, "device": run.training.device}
    return [
        resolve({"method": name, "encoder": encoder, "training": training, "data": run.data.model_dump()})
        for name in names
        if name != own and (encoder or name != "random_init")
    ]


def yardstick_embedding(dataset: Dataset, run: RunConfig) -> npt.NDArray[np.float32]:
    """One row per graph, from something that was never trained."""
    method = build_method(run, dataset.store.spec, dataset.task)
    method.begin(dataset.store)
    return embed_dataset(method, dataset)
