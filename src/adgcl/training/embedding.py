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
from adgcl.training.side_by_side import side_by_side

Floats = npt.NDArray[np.float32]


def embed_dataset(
    method: Method,
    dataset: Dataset,
    batch_size: int = 128,
    progress: Count | None = None,
    *,
    max_nodes: int | None = None,
) -> Floats:
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
) -> Floats:
    """A row per graph, in store order; a graph's row does not depend on its neighbours in the batch.

    A batch ends before it has more than `max_nodes` nodes, unless they are those of a single graph.
    """
    device = next((part.device for part in (*method.parameters(), *method.buffers())), torch.device("cpu"))
    parts = side_by_side(
        lambda batch: method.embed(batch).cpu().numpy(), store, batch_size, device, progress, max_nodes
    )
    embedding = np.concatenate(list(parts))
    if not np.isfinite(embedding).all():
        raise TrainingError(
            "The encoder produces embeddings that are not finite.", "Train again with a smaller learning rate."
        )
    return embedding
