"""Embeddings of a whole Dataset or store, in its order."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import torch

from adgcl.core.errors import TrainingError
from adgcl.core.progress import Count
from adgcl.data.dataset import Dataset
from adgcl.graphs.store.store import GraphStore
from adgcl.methods.base import Method


def embed_dataset(
    method: Method,
    dataset: Dataset,
    batch_size: int = 128,
    progress: Count | None = None,
    *,
    max_nodes: int | None = None,
) -> npt.NDArray[np.float32]:
    """A row per graph of a Dataset; methods may also read its SMILES."""
    rows = method.embed_dataset(dataset)
    return embed_store(method, dataset.store, batch_size, progress, max_nodes=max_nodes) if rows is None else rows


def embed_store(
    method: Method,
    store: GraphStore,
    batch_size: int = 128,
    progress: Count | None = None,
    *,
    max_nodes: int | None = None,
) -> npt.NDArray[np.float32]:
    """A row per graph, in store order; a graph's row does not depend on its neighbours in the batch.

    A batch ends before it has more than `max_nodes` nodes, unless they are those of a single graph.
    """
    device = next((part.device for part in (*method.parameters(), *method.buffers())), torch.device("cpu"))
    parts = []
    for start, stop in _batches(store, batch_size, max_nodes):
        with torch.no_grad():
            parts.append(method.embed(store.batch(np.arange(start, stop)).to(device)).cpu().numpy())
        if progress is not None:
            progress(stop, len(store))
    embedding = np.concatenate(parts)
    if not np.isfinite(embedding).all():
        raise TrainingError(
            "The encoder produces embeddings that are not finite.", "Train again with a smaller learning rate."
        )
    return embedding


def _batches(store: GraphStore, size: int, max_nodes: int | None) -> Iterator[tuple[int, int]]:
    start = 0
    while start < len(store):
        stop = min(start + size, len(store))
        if max_nodes is not None:
            fitting = int(np.searchsorted(store.node_ptr, store.node_ptr[start] + max_nodes, "right")) - 1
            stop = min(stop, max(fitting, start + 1))
        yield start, stop
        start = stop
