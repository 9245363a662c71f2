"""Yardsticks: baselines that need no pre-training, evaluated on the same folds as a user's own run."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from adgcl.data.dataset import Dataset
from adgcl.graphs.chem.morgan import morgan_counts
from adgcl.methods.base import METHODS
from adgcl.training.embedding import embed_dataset
from adgcl.training.run_config import RunConfig, resolve
from adgcl.training.trainer import build_method


def yardsticks(dataset: Dataset, run: RunConfig) -> list[RunConfig]:
    """The run's encoder untrained; fingerprints for molecules or statistics for other graphs; and a constant guess."""
    names = ["random_init", "statistics" if dataset.smiles is None else "ecfp", "constant"]
    # The stronger of the two fingerprints: a yardstick that is easily beaten is none.
    methods = [{"name": name, **({"counts": True} if name == "ecfp" else {})} for name in names]
    own = run.method.name
    # A run that learns nothing has no encoder to compare with.
    encoder = run.encoder.model_dump() if METHODS[own].trains else {}
    training = {"epochs": 0, "seed": run.training.seed, "device": run.training.device}
    return [
        resolve({"method": method, "encoder": encoder, "training": training, "data": run.data.model_dump()})
        for method in methods
        if method["name"] != own and (encoder or method["name"] != "random_init")
    ]


def yardstick_embedding(dataset: Dataset, run: RunConfig) -> npt.NDArray[np.float32]:
    """One row per graph, from something that was never trained."""
    method = build_method(run, dataset.store.spec, dataset.task)
    method.begin(dataset.store)
    return embed_dataset(method, dataset)


def with_counts(embedding: npt.NDArray[np.float32], dataset: Dataset) -> npt.NDArray[np.float32]:
    """An embedding of molecules with the counts of their fingerprints next to it."""
    assert dataset.smiles is not None
    return np.concatenate([embedding, morgan_counts(dataset.smiles)], axis=1)
