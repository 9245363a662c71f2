"""Embeddings of a whole Dataset or store, in its order."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch

from adgcl.core.errors import TrainingError
from adgcl.core.progress import Count
from adgcl.data.dataset import Dataset
from adgcl.graphs.store.store import GraphStore
from adgcl.methods.base import Method


def embed_dataset(
    method: Method, dataset: Dataset, batch_size: int = 128, progress: Count | None = None
) -> npt.NDArray[np.float32]:
    """A row per graph of a Dataset; methods may also read its SMILES."""
    rows = method.embed_dataset(dataset)
    return embed_store(method, dataset.store, batch_size, progress) if rows is None else rows


def embed_store(
    method: Method, store: GraphStore, batch_size: int = 128, progress: Count | None = None
) -> npt.NDArray[np.float32]:
    """A row per graph, in store order; a graph's row does not depend on its neighbours in the batch."""
    device = next((part.device for part in (*method.parameters(), *method.buffers())), torch.device("cpu"))
    parts = []
    for start in range(0, len(store), batch_size):
        ids = np.arange(start, min(start + batch_size, len(store)))
        with torch.no_grad():
            parts.append(method.embed(store.batch(ids).to(device)).cpu().numpy())
        if progress is not None:
            progress(int(ids[-1]) + 1, len(store))
    embedding = np.concatenate(parts)
    if not np.isfinite(embedding).all():
        raise TrainingError(
            "The encoder produces embeddings that are not finite.", "Train again with a smaller learning rate."
        )
    return embedding
